; python resources/examples/generate.py ferry --size 3 --seed 4
(define (problem ferry-3-4)
  (:domain ferry)
  (:objects
    island1 island2 island3 - island
    robot1 robot2 robot3 - robot
    berth1 berth2 - berth)
  (:init
    (lane island3 island1)
    (lane island1 island2)
    (lane island2 island3)
    (lane island2 island1)
    (ferry-at island2)
    (vacant berth1)
    (vacant berth2)
    (ashore robot1 island1)
    (ashore robot2 island3)
    (ashore robot3 island2))
  (:goal (and
    (ashore robot1 island3)
    (ashore robot2 island1)
    (ashore robot3 island1))))
