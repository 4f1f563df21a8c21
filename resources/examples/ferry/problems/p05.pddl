; python resources/examples/generate.py ferry --size 5 --seed 3
(define (problem ferry-5-3)
  (:domain ferry)
  (:objects
    island1 island2 island3 island4 - island
    robot1 robot2 robot3 robot4 - robot
    berth1 berth2 - berth)
  (:init
    (lane island4 island1)
    (lane island1 island3)
    (lane island3 island2)
    (lane island2 island4)
    (lane island1 island4)
    (lane island3 island1)
    (ferry-at island3)
    (vacant berth1)
    (vacant berth2)
    (ashore robot1 island4)
    (ashore robot2 island3)
    (ashore robot3 island4)
    (ashore robot4 island4))
  (:goal (and
    (ashore robot1 island3)
    (ashore robot2 island2)
    (ashore robot3 island3)
    (ashore robot4 island2))))
