; Draws the example "container yard" as the Planimation project does: bays in a row, stacks on them.
(define (animation container-yard)
  (:predicate empty
    :parameters (?bay)
    :effect (
      (assign (?bay x) (function distribute_grid_around_point (objects ?bay)
        (settings (rowindex 0) (colindex 0) (margin 120))))
      :priority 1))
  (:predicate in-bay
    :parameters (?container ?bay)
    :effect (
      (assign (?bay x) (function distribute_grid_around_point (objects ?bay)
        (settings (rowindex 0) (colindex 0) (margin 120))))
      (equal (?container x) (add (?bay x) 5))
      (equal (?container y) 14)))
  (:predicate on-top-of
    :parameters (?upper ?lower)
    :effect (
      (equal (?upper x) (?lower x))
      (equal (?upper y) (add (?lower y) (?lower height) 2))))
  (:predicate hanging
    :parameters (?container)
    :custom hook
    :effect (
      (equal (?container x) (hook x))
      (equal (?container y) (add (hook y) -34))))
  (:visual bay :type predefine :objects (%bay)
    :properties ((x 0) (y 0) (width 100) (height 12) (color gray) (depth 1)))
  (:visual container :type default
    :properties ((x null) (y null) (width 90) (height 32) (color RandomColor) (showname true)
                 (depth 2)))
  (:visual hook :type custom :objects hook
    :properties ((x 20) (y 250) (width 90) (height 10) (color #333333) (depth 3))))
