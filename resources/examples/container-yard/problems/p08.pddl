; python resources/examples/generate.py container-yard --size 8 --seed 5
(define (problem container-yard-8-5)
  (:domain container-yard)
  (:objects
    box1 box2 box3 box4 box5 box6 - container
    bay1 bay2 bay3 - bay)
  (:init
    (crane-idle)
    (in-bay box4 bay1)
    (in-bay box6 bay2)
    (on-top-of box5 box6)
    (on-top-of box2 box5)
    (in-bay box3 bay3)
    (on-top-of box1 box3)
    (topmost box4)
    (topmost box2)
    (topmost box1))
  (:goal (and
    (in-bay box3 bay1)
    (on-top-of box6 box3)
    (on-top-of box2 box6)
    (in-bay box1 bay2)
    (on-top-of box4 box1)
    (in-bay box5 bay3))))
