; An explorer collects gems in a temple and must reach the exit. A fragile tile falls into
; the depth as soon as the explorer steps off it, so a wrong step can cut off the way.
(define (domain crumbling-temple)
  (:requirements :strips :typing)
  (:types tile gem)
  (:predicates
    (beside ?here ?there - tile)
    (explorer-on ?tile - tile)
    (firm ?tile - tile)
    (fragile ?tile - tile)
    (whole ?tile - tile)
    (lies-on ?gem - gem ?tile - tile)
    (collected ?gem - gem))

  (:action walk
    :parameters (?here ?there - tile)
    :precondition (and (explorer-on ?here) (firm ?here) (beside ?here ?there) (whole ?there))
    :effect (and (not (explorer-on ?here)) (explorer-on ?there)))

  (:action leap
    :parameters (?here ?there - tile)
    :precondition (and (explorer-on ?here) (fragile ?here) (beside ?here ?there) (whole ?there))
    :effect (and (not (explorer-on ?here)) (not (whole ?here)) (explorer-on ?there)))

  (:action collect
    :parameters (?gem - gem ?tile - tile)
    :precondition (and (explorer-on ?tile) (lies-on ?gem ?tile))
    :effect (and (not (lies-on ?gem ?tile)) (collected ?gem))))
