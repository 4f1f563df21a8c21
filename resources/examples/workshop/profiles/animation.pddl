; Draws the example "workshop" as the Planimation project does: machines, the rack and the bench.
(define (animation workshop)
  (:predicate fits
    :parameters (?tool ?machine)
    :effect (
      (assign (?machine x) (function distribute_grid_around_point (objects ?machine)
        (settings (rowindex 0) (colindex 0) (margin 180))))
      :priority 0))
  (:predicate racked
    :parameters (?tool)
    :custom rack
    :effect (
      (assign (?tool x) (function distribute_within_objects_horizontal_v2 (objects ?tool rack)
        (settings (padding 12))))
      (equal (?tool y) (add (rack y) 6))))
  (:predicate mounted
    :parameters (?tool ?machine)
    :effect (
      (equal (?tool x) (add (?machine x) 10))
      (equal (?tool y) (add (?machine y) 78))))
  (:predicate loose
    :parameters (?piece)
    :custom bench
    :effect (
      (assign (?piece x) (function distribute_within_objects_horizontal_v2 (objects ?piece bench)
        (settings (padding 12))))
      (equal (?piece y) (add (bench y) 6))))
  (:predicate clamped
    :parameters (?piece ?machine)
    :effect (
      (equal (?piece x) (add (?machine x) 10))
      (equal (?piece y) (add (?machine y) 12))))
  (:visual machine :type predefine :objects (%machine)
    :properties ((x 0) (y 0) (width 140) (height 110) (color #b8c7d9) (showname true) (depth 1)))
  (:visual piece :type predefine :objects (%piece)
    :properties ((x null) (y null) (width 80) (height 24) (color #ffd27f) (showname true)
                 (depth 3)))
  (:visual stage :type predefine :objects (%stage)
    :properties ((width 1) (height 1)))
  (:visual tool :type default
    :properties ((x null) (y null) (width 80) (height 24) (color #d6a4c2) (showname true)
                 (depth 3)))
  (:visual rack :type custom :objects rack
    :properties ((x 180) (y 150) (width 420) (height 36) (color #eee6da) (depth 1)))
  (:visual bench :type custom :objects bench
    :properties ((x 180) (y 200) (width 420) (height 36) (color #e3ead8) (depth 1))))
