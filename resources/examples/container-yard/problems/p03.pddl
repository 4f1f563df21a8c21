; python resources/examples/generate.py container-yard --size 3 --seed 6
(define (problem container-yard-3-6)
  (:domain container-yard)
  (:objects
    box1 box2 box3 - container
    bay1 bay2 bay3 bay4 - bay)
  (:init
    (crane-idle)
    (in-bay box3 bay3)
    (in-bay box2 bay4)
    (on-top-of box1 box2)
    (empty bay1)
    (empty bay2)
    (topmost box3)
    (topmost box1))
  (:goal (and
    (in-bay box1 bay4)
    (on-top-of box2 box1)
    (on-top-of box3 box2))))
