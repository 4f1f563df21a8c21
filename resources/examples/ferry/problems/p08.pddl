; python resources/examples/generate.py ferry --size 8 --seed 5
(define (problem ferry-8-5)
  (:domain ferry)
  (:objects
    island1 island2 island3 island4 - island
    robot1 robot2 robot3 robot4 robot5 robot6 - robot
    berth1 berth2 - berth)
  (:init
    (lane island4 island1)
    (lane island1 island3)
    (lane island3 island2)
    (lane island2 island4)
    (lane island2 island3)
    (lane island1 island4)
    (ferry-at island2)
    (vacant berth1)
    (vacant berth2)
    (ashore robot1 island1)
    (ashore robot2 island3)
    (ashore robot3 island1)
    (ashore robot4 island2)
    (ashore robot5 island1)
    (ashore robot6 island2))
  (:goal (and
    (ashore robot1 island3)
    (ashore robot2 island2)
    (ashore robot3 island2)
    (ashore robot4 island3)
    (ashore robot5 island3)
    (ashore robot6 island3))))
