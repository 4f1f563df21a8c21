; Draws the example "parcel delivery" as the Planimation project does: places, trucks and parcels.
(define (animation parcel-delivery)
  (:predicate road
    :parameters (?from ?to)
    :effect (
      (assign (?from x) (function distribute_grid_around_point (objects ?from)
        (settings (rowindex 0) (colindex 0) (margin 240))))
      (action (function draw_line (objects ?from ?to)))
      :priority 0))
  (:predicate truck-at
    :parameters (?truck ?place)
    :effect (
      (assign (?truck x y) (function distribute_within_objects_vertical (objects ?truck ?place)
        (settings (row_count 4) (padding 8))))))
  (:predicate hired
    :parameters (?truck)
    :effect ((equal (?truck color) #f0a35e)))
  (:predicate parcel-at
    :parameters (?parcel ?place)
    :effect (
      (assign (?parcel y) (function distributey (objects ?parcel) (settings (spacebtw 6))))
      (equal (?parcel x) (add (?place x) 144))))
  (:predicate inside
    :parameters (?parcel ?truck)
    :effect (
      (assign (?parcel x) (function distribute_within_objects_horizontal (objects ?parcel ?truck)
        (settings (padding 4))))
      (equal (?parcel y) (add (?truck y) 4))
      (assign (?truck label) (function calculate_label (objects ?parcel ?truck)))))
  (:visual place :type predefine :objects (%place)
    :properties ((x 0) (y 0) (width 210) (height 280) (color #dce4ee) (showname true) (depth 1)))
  (:visual truck :type predefine :objects (%truck)
    :properties ((x null) (y null) (width 126) (height 60) (color #cccccc) (showname true)
                 (depth 2)))
  (:visual parcel :type predefine :objects (%parcel)
    :properties ((x null) (y null) (width 58) (height 18) (color #c79a5b) (showname true)
                 (depth 3))))
