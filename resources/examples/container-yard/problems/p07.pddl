; python resources/examples/generate.py container-yard --size 7 --seed 5
(define (problem container-yard-7-5)
  (:domain container-yard)
  (:objects
    box1 box2 box3 box4 box5 - container
    bay1 bay2 bay3 bay4 - bay)
  (:init
    (crane-idle)
    (in-bay box1 bay3)
    (on-top-of box3 box1)
    (in-bay box5 bay4)
    (on-top-of box4 box5)
    (on-top-of box2 box4)
    (empty bay1)
    (empty bay2)
    (topmost box3)
    (topmost box2))
  (:goal (and
    (in-bay box5 bay2)
    (on-top-of box1 box5)
    (on-top-of box2 box1)
    (in-bay box3 bay3)
    (on-top-of box4 box3))))
