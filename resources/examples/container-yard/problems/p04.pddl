; python resources/examples/generate.py container-yard --size 4 --seed 3
(define (problem container-yard-4-3)
  (:domain container-yard)
  (:objects
    box1 box2 box3 box4 - container
    bay1 bay2 bay3 - bay)
  (:init
    (crane-idle)
    (in-bay box4 bay1)
    (in-bay box3 bay2)
    (in-bay box2 bay3)
    (on-top-of box1 box2)
    (topmost box4)
    (topmost box3)
    (topmost box1))
  (:goal (and
    (in-bay box1 bay1)
    (in-bay box2 bay2)
    (on-top-of box4 box2)
    (in-bay box3 bay3))))
