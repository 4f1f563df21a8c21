; A crane rearranges stacked containers. There is no spare ground: every stack stands in one
; of a few bays, and a container can only be put down in an empty bay or on another container.
(define (domain container-yard)
  (:requirements :strips :typing)
  (:types container bay)
  (:predicates
    (in-bay ?container - container ?bay - bay)
    (on-top-of ?upper ?lower - container)
    (topmost ?container - container)
    (empty ?bay - bay)
    (hanging ?container - container)
    (crane-idle))

  (:action hoist-from-bay
    :parameters (?container - container ?bay - bay)
    :precondition (and (crane-idle) (topmost ?container) (in-bay ?container ?bay))
    :effect (and
      (hanging ?container) (empty ?bay)
      (not (crane-idle)) (not (topmost ?container)) (not (in-bay ?container ?bay))))

  (:action hoist-from-stack
    :parameters (?upper ?lower - container)
    :precondition (and (crane-idle) (topmost ?upper) (on-top-of ?upper ?lower))
    :effect (and
      (hanging ?upper) (topmost ?lower)
      (not (crane-idle)) (not (topmost ?upper)) (not (on-top-of ?upper ?lower))))

  (:action lower-into-bay
    :parameters (?container - container ?bay - bay)
    :precondition (and (hanging ?container) (empty ?bay))
    :effect (and
      (crane-idle) (topmost ?container) (in-bay ?container ?bay)
      (not (hanging ?container)) (not (empty ?bay))))

  (:action lower-onto-stack
    :parameters (?upper ?lower - container)
    :precondition (and (hanging ?upper) (topmost ?lower))
    :effect (and
      (crane-idle) (topmost ?upper) (on-top-of ?upper ?lower)
      (not (hanging ?upper)) (not (topmost ?lower)))))
