; python resources/examples/generate.py container-yard --size 5 --seed 4
(define (problem container-yard-5-4)
  (:domain container-yard)
  (:objects
    box1 box2 box3 box4 - container
    bay1 bay2 bay3 bay4 - bay)
  (:init
    (crane-idle)
    (in-bay box3 bay1)
    (in-bay box4 bay2)
    (in-bay box2 bay3)
    (in-bay box1 bay4)
    (topmost box3)
    (topmost box4)
    (topmost box2)
    (topmost box1))
  (:goal (and
    (in-bay box2 bay1)
    (in-bay box1 bay2)
    (in-bay box4 bay3)
    (in-bay box3 bay4))))
