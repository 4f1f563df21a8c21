; python resources/examples/generate.py ferry --size 7 --seed 5
(define (problem ferry-7-5)
  (:domain ferry)
  (:objects
    island1 island2 island3 island4 - island
    robot1 robot2 robot3 robot4 robot5 - robot
    berth1 berth2 - berth)
  (:init
    (lane island4 island3)
    (lane island3 island1)
    (lane island1 island2)
    (lane island2 island4)
    (lane island2 island1)
    (lane island4 island2)
    (ferry-at island4)
    (vacant berth1)
    (vacant berth2)
    (ashore robot1 island2)
    (ashore robot2 island1)
    (ashore robot3 island2)
    (ashore robot4 island2)
    (ashore robot5 island2))
  (:goal (and
    (ashore robot1 island1)
    (ashore robot2 island4)
    (ashore robot3 island3)
    (ashore robot4 island3)
    (ashore robot5 island3))))
