; python resources/examples/generate.py ferry --size 2 --seed 1
(define (problem ferry-2-1)
  (:domain ferry)
  (:objects
    island1 island2 island3 - island
    robot1 robot2 robot3 - robot
    berth1 - berth)
  (:init
    (lane island3 island2)
    (lane island2 island1)
    (lane island1 island3)
    (lane island3 island1)
    (ferry-at island1)
    (vacant berth1)
    (ashore robot1 island1)
    (ashore robot2 island2)
    (ashore robot3 island3))
  (:goal (and
    (ashore robot1 island3)
    (ashore robot2 island1)
    (ashore robot3 island1))))
