; Trucks of limited size bring parcels to their places. Driving costs the length of the road,
; and a truck costs its fee once, when it is hired.
(define (domain parcel-delivery)
  (:requirements :strips :typing :action-costs)
  (:types truck parcel place room)
  (:predicates
    (road ?from ?to - place)
    (truck-at ?truck - truck ?place - place)
    (parcel-at ?parcel - parcel ?place - place)
    (inside ?parcel - parcel ?truck - truck)
    (has-room ?truck - truck ?room - room)
    (one-less ?less ?room - room)
    (for-hire ?truck - truck)
    (hired ?truck - truck))
  (:functions
    (length ?from ?to - place)
    (fee ?truck - truck)
    (total-cost))

  (:action hire
    :parameters (?truck - truck)
    :precondition (for-hire ?truck)
    :effect (and (not (for-hire ?truck)) (hired ?truck) (increase (total-cost) (fee ?truck))))

  (:action drive
    :parameters (?truck - truck ?from ?to - place)
    :precondition (and (hired ?truck) (truck-at ?truck ?from) (road ?from ?to))
    :effect (and
      (not (truck-at ?truck ?from)) (truck-at ?truck ?to)
      (increase (total-cost) (length ?from ?to))))

  (:action load
    :parameters (?parcel - parcel ?truck - truck ?place - place ?less ?room - room)
    :precondition (and
      (hired ?truck) (truck-at ?truck ?place) (parcel-at ?parcel ?place)
      (has-room ?truck ?room) (one-less ?less ?room))
    :effect (and
      (not (parcel-at ?parcel ?place)) (inside ?parcel ?truck)
      (not (has-room ?truck ?room)) (has-room ?truck ?less)
      (increase (total-cost) 1)))

  (:action unload
    :parameters (?parcel - parcel ?truck - truck ?place - place ?less ?room - room)
    :precondition (and
      (truck-at ?truck ?place) (inside ?parcel ?truck)
      (has-room ?truck ?less) (one-less ?less ?room))
    :effect (and
      (not (inside ?parcel ?truck)) (parcel-at ?parcel ?place)
      (not (has-room ?truck ?less)) (has-room ?truck ?room)
      (increase (total-cost) 1))))
