; python resources/examples/generate.py container-yard --size 2 --seed 1
(define (problem container-yard-2-1)
  (:domain container-yard)
  (:objects
    box1 box2 box3 - container
    bay1 bay2 bay3 - bay)
  (:init
    (crane-idle)
    (in-bay box2 bay1)
    (on-top-of box3 box2)
    (in-bay box1 bay3)
    (topmost box3)
    (empty bay2)
    (topmost box1))
  (:goal (and
    (in-bay box1 bay1)
    (on-top-of box3 box1)
    (in-bay box2 bay2))))
