; python resources/examples/generate.py workshop --size 1 --seed 1
(define (problem workshop-1-1)
  (:domain workshop)
  (:objects
    piece1 piece2 - piece
    machine1 - machine
    drill saw - tool
    stage0 stage1 stage2 - stage)
  (:init
    (next-stage stage0 stage1)
    (next-stage stage1 stage2)
    (loose piece1)
    (loose piece2)
    (at-stage piece1 stage0)
    (at-stage piece2 stage0)
    (calls-for piece1 stage0 saw)
    (calls-for piece1 stage1 saw)
    (calls-for piece2 stage0 saw)
    (calls-for piece2 stage1 drill)
    (open machine1)
    (bare machine1)
    (racked drill)
    (fits drill machine1)
    (racked saw)
    (fits saw machine1))
  (:goal (and
    (at-stage piece1 stage2)
    (at-stage piece2 stage2)
    (loose piece1)
    (loose piece2))))
