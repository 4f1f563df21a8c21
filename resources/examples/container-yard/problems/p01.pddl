; python resources/examples/generate.py container-yard --size 1 --seed 1
(define (problem container-yard-1-1)
  (:domain container-yard)
  (:objects
    box1 box2 - container
    bay1 bay2 bay3 bay4 - bay)
  (:init
    (crane-idle)
    (in-bay box1 bay2)
    (in-bay box2 bay3)
    (empty bay1)
    (topmost box1)
    (topmost box2)
    (empty bay4))
  (:goal (and
    (in-bay box1 bay1)
    (in-bay box2 bay2))))
