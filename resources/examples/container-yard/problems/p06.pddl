; python resources/examples/generate.py container-yard --size 6 --seed 1
(define (problem container-yard-6-1)
  (:domain container-yard)
  (:objects
    box1 box2 box3 box4 box5 - container
    bay1 bay2 bay3 - bay)
  (:init
    (crane-idle)
    (in-bay box5 bay1)
    (on-top-of box1 box5)
    (on-top-of box2 box1)
    (in-bay box3 bay3)
    (on-top-of box4 box3)
    (topmost box2)
    (empty bay2)
    (topmost box4))
  (:goal (and
    (in-bay box2 bay1)
    (on-top-of box5 box2)
    (in-bay box1 bay3)
    (on-top-of box4 box1)
    (on-top-of box3 box4))))
