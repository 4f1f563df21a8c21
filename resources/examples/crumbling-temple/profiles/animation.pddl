; Draws the example "crumbling temple" as the Planimation project does: tiles, gems and the explorer.
(define (animation crumbling-temple)
  (:predicate beside
    :parameters (?here ?there)
    :effect (
      (assign (?here x y) (function distribute_grid_around_point (objects ?here)
        (settings (margin 90))))
      :priority 0))
  (:predicate fragile
    :parameters (?tile)
    :effect ((equal (?tile color) #c9a66b) :priority 1))
  (:predicate whole
    :parameters (?tile)
    :effect ((equal (?tile showlabel) false) :priority 2))
  (:predicate lies-on
    :parameters (?gem ?tile)
    :effect (
      (equal (?gem x) (add (?tile x) 44))
      (equal (?gem y) (add (?tile y) 6))))
  (:predicate explorer-on
    :parameters (?tile)
    :custom explorer
    :effect (
      (equal (explorer x) (add (?tile x) 8))
      (equal (explorer y) (add (?tile y) 34))))
  (:predicate collected
    :parameters (?gem)
    :custom bag
    :effect (
      (assign (?gem x) (function distribute_within_objects_horizontal_v2 (objects ?gem bag)
        (settings (padding 4))))
      (equal (?gem y) 6)))
  (:visual tile :type predefine :objects (%tile)
    :properties ((x null) (y null) (width 82) (height 82) (color #9fb7a4) (showlabel true)
                 (label broken) (depth 1)))
  (:visual gem :type default
    :properties ((x null) (y null) (width 34) (height 20) (color #b07cc6) (showname true)
                 (depth 3)))
  (:visual explorer :type custom :objects explorer
    :properties ((x null) (y null) (width 60) (height 30) (color #2e6cd9) (showname true)
                 (depth 4)))
  (:visual bag :type custom :objects bag
    :properties ((x 90) (y 0) (width 160) (height 32) (color #e8e0d0) (depth 1))))
