; python resources/examples/generate.py parcel-delivery --size 1 --seed 1
(define (problem parcel-delivery-1-1)
  (:domain parcel-delivery)
  (:objects
    place1 place2 place3 - place
    truck1 - truck
    parcel1 parcel2 - parcel
    room0 room1 - room)
  (:init
    (one-less room0 room1)
    (road place1 place2)
    (= (length place1 place2) 7)
    (road place2 place1)
    (= (length place2 place1) 7)
    (road place1 place3)
    (= (length place1 place3) 10)
    (road place3 place1)
    (= (length place3 place1) 10)
    (road place2 place3)
    (= (length place2 place3) 11)
    (road place3 place2)
    (= (length place3 place2) 11)
    (truck-at truck1 place3)
    (for-hire truck1)
    (has-room truck1 room1)
    (= (fee truck1) 29)
    (parcel-at parcel1 place2)
    (parcel-at parcel2 place1)
    (= (total-cost) 0))
  (:goal (and
    (parcel-at parcel1 place1)
    (parcel-at parcel2 place3)))
  (:metric minimize (total-cost)))
