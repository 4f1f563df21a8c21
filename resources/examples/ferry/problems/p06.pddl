; python resources/examples/generate.py ferry --size 6 --seed 6
(define (problem ferry-6-6)
  (:domain ferry)
  (:objects
    island1 island2 island3 island4 - island
    robot1 robot2 robot3 robot4 robot5 - robot
    berth1 berth2 - berth)
  (:init
    (lane island3 island1)
    (lane island1 island2)
    (lane island2 island4)
    (lane island4 island3)
    (lane island4 island2)
    (lane island1 island3)
    (ferry-at island2)
    (vacant berth1)
    (vacant berth2)
    (ashore robot1 island3)
    (ashore robot2 island2)
    (ashore robot3 island3)
    (ashore robot4 island4)
    (ashore robot5 island1))
  (:goal (and
    (ashore robot1 island1)
    (ashore robot2 island1)
    (ashore robot3 island2)
    (ashore robot4 island2)
    (ashore robot5 island2))))
