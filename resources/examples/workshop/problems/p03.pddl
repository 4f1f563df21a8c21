; python resources/examples/generate.py workshop --size 3 --seed 1
(define (problem workshop-3-1)
  (:domain workshop)
  (:objects
    piece1 piece2 - piece
    machine1 machine2 - machine
    drill saw grinder - tool
    stage0 stage1 stage2 stage3 - stage)
  (:init
    (next-stage stage0 stage1)
    (next-stage stage1 stage2)
    (next-stage stage2 stage3)
    (loose piece1)
    (loose piece2)
    (at-stage piece1 stage0)
    (at-stage piece2 stage0)
    (calls-for piece1 stage0 grinder)
    (calls-for piece1 stage1 grinder)
    (calls-for piece1 stage2 saw)
    (calls-for piece2 stage0 grinder)
    (calls-for piece2 stage1 grinder)
    (calls-for piece2 stage2 drill)
    (open machine1)
    (bare machine1)
    (open machine2)
    (bare machine2)
    (racked drill)
    (fits drill machine2)
    (racked saw)
    (fits saw machine2)
    (racked grinder)
    (fits grinder machine1))
  (:goal (and
    (at-stage piece1 stage3)
    (at-stage piece2 stage3)
    (loose piece1)
    (loose piece2))))
