; Draws the example "ferry" as the Planimation project does: islands in a row, the ferry above them.
(define (animation ferry)
  (:predicate lane
    :parameters (?from ?to)
    :effect (
      (assign (?from x) (function distribute_grid_around_point (objects ?from)
        (settings (rowindex 0) (colindex 0) (margin 190))))
      (action (function draw_line (objects ?from ?to)))
      :priority 0))
  (:predicate ferry-at
    :parameters (?island)
    :custom boat
    :effect (
      (equal (boat x) (add (?island x) 5))
      (equal (boat y) 150)))
  (:predicate vacant
    :parameters (?berth)
    :custom boat
    :effect (
      (assign (?berth x) (function distribute_within_objects_horizontal_v2 (objects ?berth boat)
        (settings (padding 6))))
      (equal (?berth y) (add (boat y) 8))))
  (:predicate aboard
    :parameters (?robot ?berth)
    :custom boat
    :effect (
      (assign (?berth x) (function distribute_within_objects_horizontal_v2 (objects ?berth boat)
        (settings (padding 6))))
      (equal (?berth y) (add (boat y) 8))
      (assign (?robot x) (function distribute_within_objects_horizontal (objects ?robot boat)
        (settings (padding 6))))
      (equal (?robot y) (add (boat y) 9))))
  (:predicate ashore
    :parameters (?robot ?island)
    :effect (
      (assign (?robot x y) (function distribute_within_objects_vertical (objects ?robot ?island)
        (settings (row_count 2) (padding 8))))))
  (:visual island :type predefine :objects (%island)
    :properties ((x 0) (y 0) (width 150) (height 130) (color #d5e8d4) (showname true) (depth 1)))
  (:visual berth :type predefine :objects (%berth)
    :properties ((x null) (y null) (width 60) (height 24) (color #9bb8d3) (depth 3)))
  (:visual robot :type predefine :objects (%robot)
    :properties ((x null) (y null) (width 60) (height 22) (color #ffd27f) (showname true)
                 (depth 4)))
  (:visual boat :type custom :objects boat
    :properties ((x null) (y null) (width 140) (height 40) (color #56789a) (depth 2))))
