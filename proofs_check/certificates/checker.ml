
(** val add : int -> int -> int **)

let rec add = (+)

(** val mul : int -> int -> int **)

let rec mul = ( * )

(** val sub : int -> int -> int **)

let rec sub = fun n m -> Stdlib.max 0 (n-m)

module Nat =
 struct
 end

(** val nth : int -> 'a1 list -> 'a1 -> 'a1 **)

let rec nth = fun n l x -> Option.value (List.nth_opt l n) ~default:x

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map = fun f l -> List.rev (List.rev_map f l)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right = fun f x l -> List.fold_left (fun y a -> f a y) x (List.rev l)

(** val firstn : int -> 'a1 list -> 'a1 list **)

let rec firstn = fun n l -> List.filteri (fun i _ -> i < n) l

(** val skipn : int -> 'a1 list -> 'a1 list **)

let rec skipn = fun n l -> List.filteri (fun i _ -> i >= n) l

(** val seq : int -> int -> int list **)

let rec seq = fun first n -> List.init n (fun i -> first + i)

(** val repeat : 'a1 -> int -> 'a1 list **)

let rec repeat = fun x n -> List.init n (fun _ -> x)

(** val on : 'a1 option -> 'a2 -> ('a1 -> 'a2) -> 'a2 **)

let on = (fun o none some -> Option.fold ~none ~some o)

(** val or_else : 'a1 option -> 'a1 -> 'a1 **)

let or_else = (fun o default -> Option.value o ~default)

type ('t, 's) instance_of_ = { vocab : int; target : 't; proposal : 't; draws : 's; depth : int }

type ('k, 'f, 'n) law_of_ = { calls : int; verified : 'k list; invalid : bool; found : 'f; tau : 'n option }

type ('r, 'k, 'f) batch_of_ = { requests : 'r list; judged : 'k list list; claim : 'f }

type 'n coupling_of_ = { plan : 'n list list option; of_drafts : 'n list; of_blocks : 'n list; optimum : 'n }

module type NUMBER =
 sig
  type t

  val zero : t

  val one : t

  val add : t -> t -> t

  val sub : t -> t -> t

  val mul : t -> t -> t

  val div : t -> t -> t

  val equal : t -> t -> bool

  val less : t -> t -> bool
 end

(** val zip : ('a1 -> 'a2 -> 'a3) -> 'a1 list -> 'a2 list -> 'a3 list **)

let rec zip = fun f l m -> match l, m with a :: l, b :: m -> f a b :: zip f l m | _ -> []

(** val both : ('a1 -> 'a2 -> bool) -> 'a1 list -> 'a2 list -> bool **)

let rec both = (fun f l m -> List.compare_lengths l m = 0 && List.for_all2 f l m)

(** val words : int -> int -> int list list **)

let words v n =
  fold_right (fun _ -> List.concat_map (fun u -> map (fun x -> (@) u (x :: [])) (seq 0 v))) ([] :: [])
    (seq 0 n)

module Over =
 functor (N:NUMBER) ->
 struct
  (** val sum : N.t list -> N.t **)

  let sum l =
    fold_right N.add N.zero l

  (** val at_token : N.t list -> int -> N.t **)

  let at_token r x =
    nth x r N.zero

  (** val times : int -> N.t -> N.t **)

  let times n x =
    sum (repeat x n)

  (** val distribution : N.t list -> bool **)

  let distribution l =
    (&&) (List.for_all (fun m -> not (N.less m N.zero)) l) (N.equal (sum l) N.one)

  (** val entry : (int list * N.t list) list -> int list -> N.t list option **)

  let entry t0 c =
    Option.map snd (List.find_opt (fun pat -> let (d, _) = pat in both (=) c d) t0)

  (** val row_of : (int list * N.t list) list -> int list -> N.t list **)

  let rec row_of t0 c =
    match entry t0 c with
    | Some r -> r
    | None -> (match c with
               | [] -> []
               | _ :: suffix -> row_of t0 suffix)

  (** val is_row : int -> N.t list -> bool **)

  let is_row v r =
    (&&) ((=) (List.length r) v) (distribution r)

  (** val is_table : int -> (int list * N.t list) list -> bool **)

  let is_table v t0 =
    (&&) (List.for_all (fun pat -> let (_, r) = pat in is_row v r) t0)
      (on (entry t0 []) false (fun _ -> true))

  type 'a law = (N.t * 'a) list

  (** val ret : 'a1 -> 'a1 law **)

  let ret a =
    (N.one, a) :: []

  (** val bind : 'a1 law -> ('a1 -> 'a2 law) -> 'a2 law **)

  let bind m f =
    List.concat_map (fun pat ->
      let (w, a) = pat in map (fun pat0 -> let (v, b) = pat0 in ((N.mul w v), b)) (f a)) m

  (** val draw : N.t list -> int law **)

  let draw r =
    List.concat (zip (fun x m -> if N.less N.zero m then (m, x) :: [] else []) (seq 0 (List.length r)) r)

  (** val normalise : N.t list -> N.t list **)

  let normalise r =
    let mass0 = sum r in if N.less N.zero mass0 then map (fun m -> N.div m mass0) r else r

  (** val without : N.t list -> int list -> N.t list **)

  let without r tokens =
    normalise (zip (fun x m -> if List.exists ((=) x) tokens then N.zero else m) (seq 0 (List.length r)) r)

  (** val has_mass : N.t list -> bool **)

  let has_mass r =
    N.less N.zero (sum r)

  (** val placed : (N.t * int) -> int law -> int law **)

  let rec placed a = function
  | [] -> a :: []
  | b :: l0 -> if N.less (fst a) (fst b) then b :: (placed a l0) else a :: (b :: l0)

  (** val ordered : N.t list -> int law **)

  let ordered r =
    fold_right placed [] (draw r)

  (** val likeliest : N.t list -> int -> int list **)

  let likeliest r n =
    firstn n (map snd (ordered r))

  (** val inclusion : int -> int law -> int law **)

  let rec inclusion sure l = match l with
  | [] -> []
  | p :: rest0 ->
    let (m, x) = p in
    let mass0 = sum (map fst l) in
    if N.less (times sure m) mass0
    then map (fun pat -> let (m0, x0) = pat in ((N.div (times sure m0) mass0), x0)) l
    else (N.one, x) :: (inclusion (sub sure (Stdlib.Int.succ 0)) rest0)

  (** val overlap : N.t -> N.t -> N.t -> N.t **)

  let overlap start m j =
    let low = if N.less start j then j else start in
    let high = if N.less (N.add start m) (N.add j N.one) then N.add start m else N.add j N.one in
    if N.less low high then N.sub high low else N.zero

  (** val stratum : N.t -> N.t -> int law -> int -> N.t **)

  let rec stratum j start l x =
    match l with
    | [] -> N.zero
    | p :: l0 -> let (m, y) = p in if (=) x y then overlap start m j else stratum j (N.add start m) l0 x

  (** val strata : N.t list -> int -> N.t list list **)

  let strata r n =
    let order = ordered r in
    let n0 = min n (List.length order) in
    let line0 = inclusion n0 order in
    map (fun j -> map (stratum (times j N.one) N.zero line0) (seq 0 (List.length r))) (seq 0 n0)

  (** val each_of : 'a1 law list -> 'a1 list law **)

  let each_of x =
    fold_right (fun m l -> bind m (fun x0 -> bind l (fun l0 -> ret (x0 :: l0)))) (ret []) x

  (** val one_by_one : int -> N.t list -> int list law **)

  let rec one_by_one n r =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> ret [])
      (fun n0 ->
      if has_mass r
      then bind (draw r) (fun x -> bind (one_by_one n0 (without r (x :: []))) (fun l -> ret (x :: l)))
      else ret [])
      n

  type drawing =
  | Replacement
  | NoReplacement
  | Top
  | Greedy
  | Hub
  | Strata

  (** val siblings : drawing -> N.t list -> int -> int list law **)

  let siblings how q n =
    match how with
    | Replacement -> each_of (repeat (draw q) n)
    | NoReplacement -> one_by_one n q
    | Top -> ret (likeliest q n)
    | Greedy ->
      let top = likeliest q (sub n (Stdlib.Int.succ 0)) in
      bind (one_by_one (Stdlib.Int.succ 0) (without q top)) (fun l -> ret ((@) l top))
    | Hub ->
      let hub = nth 0 (likeliest q (Stdlib.Int.succ 0)) 0 in
      let rest0 = one_by_one (Stdlib.Int.succ 0) (without q (hub :: [])) in
      bind (draw q) (fun x -> bind (if (=) x hub then rest0 else ret (hub :: [])) (fun l -> ret (x :: l)))
    | Strata -> each_of (map draw (strata q n))

  type shape =
  | Shape of shape list

  (** val grow : drawing -> (int list -> N.t list) -> shape -> int list -> int list list law **)

  let rec grow how q s c =
    let Shape below0 = s in
    (match below0 with
     | [] -> ret []
     | _ :: _ ->
       bind (siblings how (q c) (List.length below0)) (fun tokens ->
         bind
           (each_of
             (zip (fun s0 x ->
               bind (grow how q s0 ((@) c (x :: []))) (fun d -> ret (((@) c (x :: [])) :: d))) below0 tokens))
           (fun l -> ret (List.concat l))))

  type scheme =
  | Tree of drawing * shape
  | Paths of int * shape
  | Listed of int list list law

  (** val drafts : scheme -> (int list -> N.t list) -> int list -> int list list law **)

  let drafts s q c =
    match s with
    | Tree (how, s0) -> grow how q s0 c
    | Paths (count, s0) ->
      bind (each_of (repeat (grow Replacement q s0 c) count)) (fun l -> ret (List.concat l))
    | Listed l -> l

  type verification =
  | Branch of verification law
  | Stop of int list * N.t list option
  | Again of int list * verification list

  (** val begun : int list -> int list -> bool **)

  let begun c u =
    both (=) c (firstn (List.length c) u)

  (** val node : int list list -> int list -> bool **)

  let node d c =
    List.exists (both (=) c) ([] :: d)

  (** val sampler :
      int -> bool -> (int list -> int list list law) -> int list list option -> verification -> bool **)

  let rec sampler v once d d0 = function
  | Branch l ->
    (&&) (distribution (map fst l)) (List.for_all (fun pat -> let (_, k0) = pat in sampler v once d d0 k0) l)
  | Stop (c, extra) -> (&&) (on d0 true (fun d1 -> node d1 c)) (on extra true (is_row v))
  | Again (c, l) ->
    (&&) ((&&) (on d0 true (fun _ -> false)) (distribution (map fst (d c))))
      (both (fun k0 pat -> let (_, d1) = pat in sampler v once d (if once then Some d1 else None) k0) l (d c))

  (** val fault :
      int -> bool -> (int list -> int list list law) -> int list list option -> verification -> bool **)

  let rec fault v once d d0 = function
  | Branch l ->
    (||) (not (distribution (map fst l)))
      (List.exists (fun pat -> let (m, k0) = pat in (&&) (N.less N.zero m) (fault v once d d0 k0)) l)
  | Stop (c, extra) -> not ((&&) (on d0 true (fun d1 -> node d1 c)) (on extra true (is_row v)))
  | Again (c, l) ->
    let ds = d c in
    (&&) (distribution (map fst ds))
      (List.exists (fun yes -> yes)
        (zip (fun k0 pat ->
          let (m, d1) = pat in (&&) (N.less N.zero m) (fault v once d (if once then Some d1 else None) k0)) l
          ds))

  (** val endings :
      (int list -> int list list law) -> N.t -> verification -> (N.t * (int * int list)) list **)

  let rec endings d w = function
  | Branch l -> List.concat_map (fun pat -> let (m, k0) = pat in endings d (N.mul w m) k0) l
  | Stop (c, extra) ->
    on extra ((w, ((List.length c), c)) :: []) (fun r ->
      zip (fun x m -> ((N.mul w m), ((List.length c), ((@) c (x :: []))))) (seq 0 (List.length r)) r)
  | Again (c, l) -> List.concat (zip (fun k0 pat -> let (v, _) = pat in endings d (N.mul w v) k0) l (d c))

  (** val follows : (int list -> N.t list) -> int list -> int list -> N.t **)

  let rec follows p c = function
  | [] -> N.one
  | x :: u0 -> N.mul (at_token (p c) x) (follows p ((@) c (x :: [])) u0)

  (** val begins : (int list -> N.t list) -> int list -> int list -> int list -> N.t **)

  let rec begins p c d u = match u with
  | [] -> N.one
  | x :: u0 ->
    (match d with
     | [] -> follows p c u
     | y :: d0 -> if (=) x y then begins p ((@) c (x :: [])) d0 u0 else N.zero)

  (** val mass : (int list -> N.t list) -> (N.t * (int * int list)) list -> int list -> int list -> N.t **)

  let mass p l c u =
    sum (map (fun pat -> let (w, y) = pat in let (_, d) = y in N.mul w (begins p c d u)) l)

  (** val accepted : (N.t * (int * int list)) list -> N.t **)

  let accepted l =
    sum (map (fun pat -> let (w, y) = pat in let (n, _) = y in times n w) l)

  (** val below : int -> (N.t * (int * int list)) list -> (N.t * (int * int list)) list **)

  let below x l =
    List.concat_map (fun pat ->
      let (w, y) = pat in
      let (n, d) = y in (match d with
                         | [] -> []
                         | y0 :: d0 -> if (=) x y0 then (w, (n, d0)) :: [] else [])) l

  (** val ended : (N.t * (int * int list)) -> bool **)

  let ended = function
  | (_, p0) -> let (_, d) = p0 in (=) (List.length d) 0

  (** val right :
      (int list -> N.t list) -> int -> int -> int list -> (N.t * (int * int list)) list -> N.t -> N.t -> bool **)

  let rec right p v fuel c l here want =
    let here0 = N.add here (sum (map fst (List.filter ended l))) in
    if List.for_all ended l
    then N.equal here0 want
    else ((fun fO fS n -> if n=0 then fO () else fS (n-1))
            (fun _ -> false)
            (fun fuel0 ->
            let r = p c in
            List.for_all (fun x ->
              right p v fuel0 ((@) c (x :: [])) (below x l) (N.mul here0 (at_token r x))
                (N.mul want (at_token r x))) (seq 0 v))
            fuel)

  type instance = ((int list * N.t list) list, scheme) instance_of_

  type certificate = (verification, (int list * (N.t * N.t)) option, N.t) law_of_

  (** val sound_instance : instance -> bool **)

  let sound_instance i =
    (&&) (is_table i.vocab i.target) (is_table i.vocab i.proposal)

  (** val drafted : instance -> int list -> int list list law **)

  let drafted i =
    drafts i.draws (row_of i.proposal)

  (** val longest : instance -> certificate -> int **)

  let longest i k =
    add i.depth k.calls

  (** val says : ('a1 * (N.t * N.t)) option -> N.t -> N.t -> bool **)

  let says v x y =
    on v (N.equal x y) (fun pat ->
      let (_, p0) = pat in
      let (got, want) = p0 in (&&) ((&&) (N.equal x got) (N.equal y want)) (not (N.equal got want)))

  (** val check : instance -> certificate -> bool **)

  let check i k =
    let p = row_of i.target in
    let once = (=) k.calls 0 in
    let process = Again ([], k.verified) in
    let l = endings (drafted i) N.one process in
    let sampled = sampler i.vocab once (drafted i) None process in
    (&&) (on k.tau true (fun mean0 -> (&&) once (N.equal (accepted l) mean0)))
      (match k.found with
       | Some p0 ->
         let (u, _) = p0 in
         (&&) ((&&) sampled ((||) once ((<=) (List.length u) (longest i k))))
           (says k.found (mass p l [] u) (follows p [] u))
       | None ->
         if k.invalid
         then fault i.vocab once (drafted i) None process
         else (&&) sampled (right p i.vocab (Stdlib.Int.succ (longest i k)) [] l N.zero N.one))

  type coupling = N.t coupling_of_

  (** val agree : int list -> int list list -> int **)

  let agree y d =
    fold_right (fun c most -> if begun c y then max (List.length c) most else most) 0 d

  (** val blocks : (int list -> N.t list) -> int -> int list -> int list law **)

  let rec blocks p n c =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> ret [])
      (fun n0 -> bind (draw (p c)) (fun x -> bind (blocks p n0 ((@) c (x :: []))) (fun y -> ret (x :: y))))
      n

  (** val dot : N.t list -> N.t list -> N.t **)

  let dot l m =
    sum (zip N.mul l m)

  (** val plus : N.t list -> N.t list -> N.t list **)

  let plus =
    zip N.add

  (** val couples : N.t list -> N.t list -> N.t list list -> bool **)

  let couples ws ms f =
    (&&) (both (fun w f0 -> (&&) (N.equal (sum f0) w) (both (fun x _ -> not (N.less x N.zero)) f0 ms)) ws f)
      (both N.equal (fold_right plus (map (fun _ -> N.zero) ms) f) ms)

  (** val worth : N.t list list -> N.t list list -> N.t **)

  let worth f r =
    sum (zip dot f r)

  (** val best : N.t list -> N.t list -> N.t list list -> N.t list list -> coupling -> bool **)

  let best ws ms r f c =
    (&&)
      ((&&)
        ((&&) ((&&) ((=) (List.length c.of_blocks) (List.length ms)) (couples ws ms f))
          (both (fun u r0 -> both (fun v x -> not (N.less (N.add u v) x)) c.of_blocks r0) c.of_drafts r))
        (N.equal (worth f r) c.optimum)) (N.equal (N.add (dot ws c.of_drafts) (dot ms c.of_blocks)) c.optimum)

  (** val rewards : int list list law -> int list law -> N.t list list **)

  let rewards ds ys =
    map (fun pat -> let (_, d) = pat in map (fun pat0 -> let (_, y) = pat0 in times (agree y d) N.one) ys) ds

  (** val unbeaten : int -> int -> (int list -> N.t list) -> int list list law -> coupling -> bool **)

  let unbeaten v depth0 p ds c =
    let price = fun u -> dot c.of_blocks (map (begins p [] u) (words v (Stdlib.Int.succ depth0))) in
    (&&)
      (both (fun u pat ->
        let (_, d) = pat in
        List.for_all (fun n ->
          List.for_all (fun x ->
            not (N.less (N.add u (price ((@) n (x :: [])))) (times (List.length n) N.one))) (seq 0 v))
          ([] :: d)) c.of_drafts ds) (N.equal (N.add (dot (map fst ds) c.of_drafts) (price [])) c.optimum)

  (** val check_optimum : instance -> coupling -> bool **)

  let check_optimum i c =
    let p = row_of i.target in
    let ds = drafted i [] in
    let ys = blocks p i.depth [] in
    (match c.plan with
     | Some f -> best (map fst ds) (map fst ys) (rewards ds ys) f c
     | None -> unbeaten i.vocab i.depth p ds c)

  type batch = (instance, verification, (int list list * (N.t * N.t)) option) batch_of_

  (** val joint : (N.t -> N.t -> bool) -> N.t list list -> (N.t * N.t list list) list -> N.t -> bool **)

  let rec joint holds ps l want =
    match ps with
    | [] -> holds (sum (map fst l)) want
    | p :: ps0 ->
      List.for_all (fun x ->
        joint holds ps0
          (List.filter (fun pat -> let (w, _) = pat in not (N.equal w N.zero))
            (map (fun pat ->
              let (w, rs) = pat in ((N.mul w (at_token (nth 0 rs []) x)), (skipn (Stdlib.Int.succ 0) rs))) l))
          (N.mul want (at_token p x))) (seq 0 (List.length p))

  (** val check_batch : batch -> bool **)

  let check_batch b =
    let ds = each_of (map (fun i -> drafted i []) b.requests) in
    let rs = b.requests in
    let asked =
      on b.claim (map (fun i -> words i.vocab (Stdlib.Int.succ i.depth)) rs) (fun pat ->
        let (us, _) = pat in map (fun u -> u :: []) us)
    in
    let got = zip (fun i us k -> map (mass (row_of i.target) (endings (drafted i) N.one k) []) us) rs asked in
    let cases = zip (fun ks pat -> let (w, _) = pat in (w, (zip (fun f -> f) got ks))) b.judged ds in
    (&&)
      ((&&) ((&&) (List.for_all sound_instance rs) (distribution (map fst ds)))
        (both (fun ks pat ->
          let (_, ds0) = pat in
          both (fun k ok -> ok k) ks (zip (fun i d -> sampler i.vocab true (drafted i) (Some d)) rs ds0))
          b.judged ds))
      (joint (says b.claim) (zip (fun i -> map (follows (row_of i.target) [])) rs asked) cases N.one)
 end

(** val precedes : ('a1 -> 'a1 -> bool) -> ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list -> bool **)

let rec precedes same less0 l m =
  match l with
  | [] -> false
  | x :: l0 ->
    (match m with
     | [] -> true
     | y :: m0 -> (||) (less0 x y) ((&&) (same x y) (precedes same less0 l0 m0)))

(** val insert :
    ('a1 -> 'a1 -> bool) -> ('a1 -> 'a1 -> bool) -> ('a1 -> 'a1 -> 'a1 list -> 'a1 list) -> 'a1 -> 'a1 list
    -> 'a1 list **)

let rec insert same less0 joined x l = match l with
| [] -> x :: []
| y :: m ->
  if same x y then joined x y m else if less0 y x then y :: (insert same less0 joined x m) else x :: l

(** val drop : ('a1 -> 'a1 -> bool) -> 'a1 -> 'a1 list -> 'a1 list **)

let rec drop same x = function
| [] -> []
| y :: l0 -> if same x y then l0 else y :: (drop same x l0)

(** val zero_only : int list **)

let zero_only =
  (Stdlib.Int.succ 0) :: []

(** val above : int list **)

let above =
  (Stdlib.Int.succ (Stdlib.Int.succ 0)) :: []

(** val not_below : int list **)

let not_below =
  (Stdlib.Int.succ 0) :: ((Stdlib.Int.succ (Stdlib.Int.succ 0)) :: [])

(** val any : int list **)

let any =
  0 :: not_below

(** val within : int list -> int list -> bool **)

let within s u =
  List.for_all (fun x -> List.exists ((=) x) u) s

(** val outside : int list -> int list -> int list **)

let outside s u =
  List.filter (fun x -> not (List.exists ((=) x) u)) s

(** val sign_times : int -> int -> int **)

let sign_times x y =
  if (||) ((=) x (Stdlib.Int.succ 0)) ((=) y (Stdlib.Int.succ 0))
  then Stdlib.Int.succ 0
  else if (=) x y then Stdlib.Int.succ (Stdlib.Int.succ 0) else 0

(** val signs_times : int list -> int list -> int list **)

let signs_times s u =
  List.concat_map (fun x -> map (sign_times x) u) s

module Coq_Over =
 functor (N:NUMBER) ->
 struct
  (** val plus : (N.t * int list list) list -> (N.t * int list list) list -> (N.t * int list list) list **)

  let plus =
    fold_right
      (insert (fun a b -> both (both (=)) (snd a) (snd b)) (fun a b ->
        precedes (both (=)) (precedes (=) (<)) (snd a) (snd b)) (fun a b p ->
        let c = N.add (fst a) (fst b) in if N.equal c N.zero then p else (c, (snd a)) :: p))

  (** val term : N.t -> int list list -> (N.t * int list list) list -> (N.t * int list list) list **)

  let term c a p =
    map (fun pat ->
      let (d, b) = pat in
      ((N.mul c d), (fold_right (insert (both (=)) (precedes (=) (<)) (fun v w a0 -> v :: (w :: a0))) b a))) p

  (** val times : (N.t * int list list) list -> (N.t * int list list) list -> (N.t * int list list) list **)

  let times p q =
    fold_right (fun pat r -> let (c, a) = pat in plus (term c a q) r) [] p

  (** val minus : (N.t * int list list) list -> (N.t * int list list) list -> (N.t * int list list) list **)

  let minus p q =
    plus p (term (N.sub N.zero N.one) [] q)

  (** val one_p : (N.t * int list list) list **)

  let one_p =
    (N.one, []) :: []

  (** val variable : int list -> (N.t * int list list) list **)

  let variable v =
    (N.one, (v :: [])) :: []

  (** val product : (N.t * int list list) list list -> (N.t * int list list) list **)

  let product l =
    fold_right times one_p l

  (** val total : (N.t * int list list) list list -> (N.t * int list list) list **)

  let total l =
    fold_right plus [] l

  (** val same_p : (N.t * int list list) list -> (N.t * int list list) list -> bool **)

  let same_p =
    both (fun pat pat0 -> let (c, a) = pat in let (d, b) = pat0 in (&&) (both (both (=)) a b) (N.equal c d))

  (** val put :
      int list -> (N.t * int list list) list -> (N.t * int list list) list -> (N.t * int list list) list **)

  let put v g p =
    if List.exists (fun pat -> let (_, a) = pat in List.exists (both (=) v) a) p
    then total
           (map (fun pat ->
             let (c, a) = pat in
             times ((c, []) :: []) (product (map (fun x -> if both (=) x v then g else variable x) a))) p)
    else p

  (** val no_term : (N.t * int list list) list -> bool **)

  let no_term p =
    same_p p []

  (** val reduce :
      (((N.t * int list list) list * int list) list * (int list * (N.t * int list list) list) list) ->
      (N.t * int list list) list -> (N.t * int list list) list **)

  let reduce f p =
    fold_right (fun pat p0 -> let (v, g) = pat in put v g p0) p (snd f)

  (** val lead : (N.t * int list list) list -> N.t **)

  let lead = function
  | [] -> N.one
  | p0 :: _ -> let (c, _) = p0 in c

  (** val monic : (N.t * int list list) list -> (N.t * int list list) list **)

  let monic p =
    if (||) (N.equal (lead p) N.one) (N.equal (lead p) N.zero) then p else term (N.div N.one (lead p)) [] p

  (** val turned : (N.t * int list list) list -> int list -> int list **)

  let turned p s =
    if N.less (lead p) N.zero then map (fun x -> sub (Stdlib.Int.succ (Stdlib.Int.succ 0)) x) s else s

  (** val may_be :
      (((N.t * int list list) list * int list) list * (int list * (N.t * int list list) list) list) ->
      (N.t * int list list) list -> int list **)

  let may_be f p =
    let p0 = reduce f p in
    if no_term p0
    then zero_only
    else turned p0
           (snd
             (or_else (List.find_opt (fun f0 -> same_p (fst f0) (monic p0)) ((one_p, above) :: (fst f))) (p0,
               any)))

  (** val rest :
      int -> (N.t * int list list) list -> (N.t * int list list) list -> (N.t * int list list) list **)

  let rec rest steps g p =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> p)
      (fun steps0 ->
      match p with
      | [] -> p
      | p0 :: r ->
        let (c, b) = p0 in
        let a = snd (nth 0 g (N.one, [])) in
        let quotient = fold_right (drop (both (=))) b a in
        if (=) (add (List.length quotient) (List.length a)) (List.length b)
        then rest steps0 g (minus p (term c quotient g))
        else (c, b) :: (rest steps0 g r))
      steps

  (** val rest_in :
      int -> (((N.t * int list list) list * int list) list * (int list * (N.t * int list list) list) list) ->
      (N.t * int list list) list -> (N.t * int list list) list **)

  let rest_in steps f p =
    fold_right (fun pat p0 -> let (g, s) = pat in if within s zero_only then rest steps g p0 else p0) p
      (fst f)

  (** val refuted : (((N.t * int list list) list * int list) list * (N.t * int list) list option) -> bool **)

  let refuted k =
    let literal = fun i -> nth i (fst k) ([], zero_only) in
    let has = fun s i -> within (snd (literal i)) s in
    on (snd k) true (fun l ->
      (&&)
        ((&&)
          (no_term
            (total
              (map (fun pat -> let (c, is) = pat in term c [] (product (map (fun i -> fst (literal i)) is)))
                l)))
          (List.for_all (fun pat ->
            let (c, is) = pat in
            (||) (List.exists (has zero_only) is)
              ((&&) (not (N.less c N.zero)) (List.for_all (has not_below) is))) l))
        (List.exists (fun pat -> let (c, is) = pat in (&&) (N.less N.zero c) (List.for_all (has above) is)) l))

  (** val solved : (N.t * int list list) list -> (int list * (N.t * int list list) list) list **)

  let solved p =
    firstn (Stdlib.Int.succ 0)
      (List.concat_map (fun pat ->
        let (c, a) = pat in
        let v = nth 0 a [] in
        if (&&) ((=) (List.length a) (Stdlib.Int.succ 0))
             ((=) (List.length (List.filter (fun pat0 -> let (_, b) = pat0 in List.exists (both (=) v) b) p))
               (Stdlib.Int.succ 0))
        then (v, (minus (variable v) (term (N.div N.one c) [] p))) :: []
        else []) p)

  (** val units :
      (((N.t * int list list) list * int list) list * (N.t * int list) list option) list -> (((N.t * int list
      list) list * int list) list * (int list * (N.t * int list list) list) list) -> ((N.t * int list list)
      list * int list) list **)

  let units clauses f =
    List.concat_map (fun k ->
      match List.filter (fun pat -> let (p, s) = pat in not (within (may_be f p) s)) (fst k) with
      | [] -> ([], above) :: []
      | p0 :: l ->
        let (p, s) = p0 in
        if (&&) ((=) (List.length l) 0) (not (within (may_be f p) (outside any s)))
        then (p, (outside any s)) :: []
        else []) clauses

  (** val learn :
      (((N.t * int list list) list * int list) list * (N.t * int list) list option) list -> int ->
      ((N.t * int list list) list * int list) list -> (((N.t * int list list) list * int list) list * (int
      list * (N.t * int list list) list) list) -> (((N.t * int list list) list * int list) list * (int
      list * (N.t * int list list) list) list) option **)

  let rec learn clauses steps todo f =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> Some f)
      (fun steps0 ->
      match todo with
      | [] -> Some f
      | p0 :: todo0 ->
        let (p, s) = p0 in
        let g = reduce f p in
        let now = List.filter (fun x -> List.exists ((=) x) s) (may_be f p) in
        if (=) (List.length now) 0
        then None
        else if within (may_be f p) s
             then learn clauses steps0 todo0 f
             else let found0 = if within now zero_only then solved g else [] in
                  let lower =
                    if within now zero_only then ((monic (rest_in steps0 f g)), zero_only) :: [] else []
                  in
                  let new0 = ((monic g), (turned g now)) :: ((@) lower (fst f)) in
                  let g0 = ((if (=) (List.length found0) 0 then new0 else []), ((@) found0 (snd f))) in
                  learn clauses steps0
                    ((@) (if (=) (List.length found0) 0 then [] else new0) ((@) todo0 (units clauses g0))) g0)
      steps

  (** val part :
      (((N.t * int list list) list * int list) list * (N.t * int list) list option) list -> int ->
      (((N.t * int list list) list * int list) list * (int list * (N.t * int list list) list) list) ->
      (N.t * int list list) list -> int list -> bool -> (((N.t * int list list) list * int list) list * (int
      list * (N.t * int list list) list) list) option **)

  let part clauses steps f p s yes =
    learn clauses steps ((p, (if yes then s else outside any s)) :: []) f

  (** val parts :
      (((N.t * int list list) list * int list) list * (N.t * int list) list option) list -> int ->
      (((N.t * int list list) list * int list) list * (int list * (N.t * int list list) list) list) ->
      (N.t * int list list) list -> int list -> ((((N.t * int list list) list * int list) list * (int
      list * (N.t * int list list) list) list) -> bool -> bool) -> bool **)

  let parts clauses steps f p s k =
    List.for_all (fun yes -> on (part clauses steps f p s yes) true (fun f0 -> k f0 yes))
      (true :: (false :: []))

  (** val apart :
      (N.t * int list list) list list -> (N.t * int list list) list list -> (N.t * int list list) list
      list * (N.t * int list list) list list **)

  let rec apart l m =
    match l with
    | [] -> ([], m)
    | p :: l0 ->
      if List.exists (same_p p) m
      then apart l0 (drop same_p p m)
      else let (l1, m0) = apart l0 m in ((p :: l1), m0)

  (** val add_q :
      ((N.t * int list list) list * (N.t * int list list) list list) -> ((N.t * int list list)
      list * (N.t * int list list) list list) -> (N.t * int list list) list * (N.t * int list list) list list **)

  let add_q a b =
    let (mine, theirs) = apart (snd a) (snd b) in
    ((plus (times (fst a) (product theirs)) (times (fst b) (product mine))), ((@) mine (snd b)))

  (** val scaled :
      (N.t * ((N.t * int list list) list list * (N.t * int list list) list list)) -> ((N.t * int list list)
      list * (N.t * int list list) list list) -> (N.t * int list list) list * (N.t * int list list) list list **)

  let scaled w a =
    let (c, p) = w in
    let (up, down) = p in
    let (up0, below0) = apart up (snd a) in ((term c [] (times (fst a) (product up0))), ((@) below0 down))

  (** val same_q :
      int -> (((N.t * int list list) list * int list) list * (int list * (N.t * int list list) list) list) ->
      ((N.t * int list list) list * (N.t * int list list) list list) -> ((N.t * int list list)
      list * (N.t * int list list) list list) -> bool **)

  let same_q steps f a b =
    no_term (rest_in steps f (reduce f (fst (add_q a (scaled ((N.sub N.zero N.one), ([], [])) b)))))

  (** val no_zero :
      (((N.t * int list list) list * int list) list * (int list * (N.t * int list list) list) list) ->
      (N.t * int list list) list list -> bool **)

  let no_zero f l =
    List.for_all (fun p -> not (List.exists ((=) (Stdlib.Int.succ 0)) (may_be f p))) l

  (** val is_law :
      int -> (((N.t * int list list) list * int list) list * (int list * (N.t * int list list) list) list) ->
      (N.t * ((N.t * int list list) list list * (N.t * int list list) list list)) list -> bool **)

  let is_law steps f l =
    (&&)
      (List.for_all (fun pat ->
        let (c, y) = pat in
        let (up, down) = y in
        (&&) (no_zero f down)
          (within (turned ((c, []) :: []) (fold_right signs_times above (map (may_be f) ((@) up down))))
            not_below)) l)
      (same_q steps f (fold_right add_q ([], []) (map (fun w -> scaled w (one_p, [])) l)) (one_p, []))

  type value =
  | Leaf of ((N.t * int list list) list * (N.t * int list list) list list)
  | Split of (N.t * int list list) list * int list * value * value

  (** val meet :
      ((((N.t * int list list) list * int list) list * (int list * (N.t * int list list) list) list) ->
      (N.t * int list list) list -> int list -> ((((N.t * int list list) list * int list) list * (int
      list * (N.t * int list list) list) list) -> bool -> 'a1) -> 'a1) -> ((((N.t * int list list) list * int
      list) list * (int list * (N.t * int list list) list) list) -> ((N.t * int list list) list * (N.t * int
      list list) list list) -> ((N.t * int list list) list * (N.t * int list list) list list) -> 'a1) ->
      value -> value -> (((N.t * int list list) list * int list) list * (int list * (N.t * int list list)
      list) list) -> 'a1 **)

  let rec meet cut leaf v =
    let rec with_v w f =
      match v with
      | Leaf a ->
        (match w with
         | Leaf b -> leaf f a b
         | Split (p, s, yes, no) -> cut f p s (fun f0 b -> with_v (if b then yes else no) f0))
      | Split (p, s, yes, no) -> cut f p s (fun f0 b -> meet cut leaf (if b then yes else no) w f0)
    in with_v

  (** val serves :
      (((N.t * int list list) list * int list) list * (N.t * int list) list option) list -> int -> value ->
      value -> (((N.t * int list list) list * int list) list * (int list * (N.t * int list list) list) list)
      -> bool **)

  let serves clauses steps =
    meet (parts clauses steps) (fun f a b -> (&&) (no_zero f (snd a)) (same_q steps f a b))

  (** val split :
      (((N.t * int list list) list * int list) list * (N.t * int list) list option) list -> int ->
      (((N.t * int list list) list * int list) list * (int list * (N.t * int list list) list) list) ->
      (N.t * int list list) list -> int list -> ((((N.t * int list list) list * int list) list * (int
      list * (N.t * int list list) list) list) -> bool -> value) -> value **)

  let split clauses steps f p s k =
    let y = part clauses steps f p s true in
    let n = part clauses steps f p s false in
    let value0 = fun o b -> on o (Leaf ([], [])) (fun f0 -> k f0 b) in
    let yes = value0 y true in
    let no = value0 n false in
    if on n true (serves clauses steps yes no)
    then yes
    else if on y true (serves clauses steps no yes) then no else Split (p, s, yes, no)

  (** val add_v :
      (((N.t * int list list) list * int list) list * (N.t * int list) list option) list -> int -> value ->
      value -> (((N.t * int list list) list * int list) list * (int list * (N.t * int list list) list) list)
      -> value **)

  let add_v clauses steps =
    meet (split clauses steps) (fun _ a b -> Leaf (add_q a b))

  (** val scaled_v :
      (N.t * ((N.t * int list list) list list * (N.t * int list list) list list)) -> value -> value **)

  let rec scaled_v w = function
  | Leaf a -> Leaf (scaled w a)
  | Split (p, s, yes, no) -> Split (p, s, (scaled_v w yes), (scaled_v w no))

  type who =
  | Coin
  | Drafter of int list
  | Next of int list

  type run =
  | Cut of (N.t * int list list) list * int list * run * run
  | Draw of who
     * (int * ((N.t * ((N.t * int list list) list list * (N.t * int list list) list list)) * run)) list
  | Stop of int list
  | Never

  (** val entry : int -> int -> int list -> int -> (N.t * int list list) list **)

  let entry v letter c x =
    if (=) (Stdlib.Int.succ x) v
    then minus one_p (total (map (fun y -> variable (letter :: ((@) c (y :: [])))) (seq 0 x)))
    else if (<) x v then variable (letter :: ((@) c (x :: []))) else []

  (** val drafts :
      int -> int -> bool -> (((N.t * int list list) list * int list) list * (int list * (N.t * int list list)
      list) list) -> int list -> int list list -> int list -> (int * ((N.t * ((N.t * int list list) list
      list * (N.t * int list list) list list)) * run)) list -> bool **)

  let drafts steps v replacement f arities d c l =
    let gone =
      if replacement then [] else List.filter (fun x -> List.exists (both (=) ((@) c (x :: []))) d) (seq 0 v)
    in
    let mass0 = minus one_p (total (map (entry v (Stdlib.Int.succ 0) c) gone)) in
    (&&)
      ((&&)
        ((<)
          (List.length
            (List.filter (fun d0 -> List.exists (fun x -> both (=) d0 ((@) c (x :: []))) (seq 0 v)) d))
          (mul (List.length (List.filter (both (=) c) d)) (nth (List.length c) arities 0)))
        (no_zero f (mass0 :: [])))
      (List.for_all (fun pat ->
        let (x, y) = pat in
        let (w, _) = y in
        (&&) ((&&) ((<) x v) (not (List.exists ((=) x) gone)))
          (same_q steps f (scaled w (mass0, [])) ((entry v (Stdlib.Int.succ 0) c x), []))) l)

  (** val sampler :
      (((N.t * int list list) list * int list) list * (N.t * int list) list option) list -> int -> int ->
      bool -> bool -> run -> int list -> int list list -> (N.t * int list list) list list -> (((N.t * int
      list list) list * int list) list * (int list * (N.t * int list list) list) list) -> bool **)

  let rec sampler clauses steps v listed replacement k arities d up f =
    match k with
    | Cut (p, s, yes, no) ->
      parts clauses steps f p s (fun f0 b ->
        sampler clauses steps v listed replacement (if b then yes else no) arities d up f0)
    | Draw (by_, l) ->
      (&&) (is_law steps f (map (fun b -> fst (snd b)) l))
        (let each = fun arities0 d0 ->
           List.for_all (fun pat ->
             let (x, y) = pat in
             let (y0, k0) = y in
             let (_, y2) = y0 in
             let (up0, _) = y2 in sampler clauses steps v listed replacement k0 arities0 (d0 x) up0 f) l
         in
         match by_ with
         | Coin -> each arities (fun _ -> d)
         | Drafter c ->
           (&&) ((||) listed (drafts steps v replacement f arities d c l))
             (each arities (fun x -> ((@) c (x :: [])) :: d))
         | Next c ->
           (&&) ((||) listed (List.exists (both (=) c) d)) (each [] (fun x -> ((@) c (x :: [])) :: [])))
    | Stop c -> (||) listed (List.exists (both (=) c) d)
    | Never -> List.exists (fun p -> within (may_be f p) zero_only) up

  (** val follows : int -> int list -> int list -> (N.t * int list list) list **)

  let rec follows v c = function
  | [] -> one_p
  | x :: u0 -> times (entry v 0 c x) (follows v ((@) c (x :: [])) u0)

  (** val begins : int -> int list -> int list -> (N.t * int list list) list **)

  let begins v c u =
    if both (=) (firstn (List.length u) c) (firstn (List.length c) u)
    then follows v c (skipn (List.length c) u)
    else []

  (** val mean :
      (((N.t * int list list) list * int list) list * (N.t * int list) list option) list -> int -> int -> int
      list -> run -> (((N.t * int list list) list * int list) list * (int list * (N.t * int list list) list)
      list) -> value **)

  let rec mean clauses steps v u k f =
    match k with
    | Cut (p, s, yes, no) ->
      split clauses steps f p s (fun f0 b -> mean clauses steps v u (if b then yes else no) f0)
    | Draw (_, l) ->
      fold_right (fun v0 w -> add_v clauses steps w v0 f) (Leaf ([], []))
        (map (fun pat -> let (_, y0) = pat in let (w, k0) = y0 in scaled_v w (mean clauses steps v u k0 f)) l)
    | Stop c -> Leaf ((begins v c u), [])
    | Never -> Leaf ([], [])

  (** val rows : int -> int -> int -> ((N.t * int list list) list * int list) list **)

  let rows v letter n =
    List.concat_map (fun c -> map (fun x -> ((entry v letter c x), not_below)) (seq 0 v))
      (List.concat_map (words v) (seq 0 n))

  type proof =
  | Proof of int * int * bool * bool * int list
     * (((N.t * int list list) list * int list) list * (N.t * int list) list option) list * int * run * 
     run

  (** val check : proof -> bool **)

  let check = function
  | Proof (v, longest0, listed, replacement, arities, l, steps, k0, law0) ->
    (&&) (List.for_all refuted l)
      (on (learn l steps ((@) (rows v 0 longest0) (rows v (Stdlib.Int.succ 0) longest0)) ([], [])) true
        (fun f ->
        (&&)
          ((&&) (sampler l steps v listed replacement k0 arities ([] :: []) [] f)
            (sampler l steps v true true law0 [] ([] :: []) [] f))
          (List.for_all (fun u -> serves l steps (mean l steps v u law0 f) (mean l steps v u k0 f) f)
            (words v longest0))))
 end

(** val all : ('a1 -> 'a2 option) -> 'a1 list -> 'a2 list option **)

let rec all f = function
| [] -> Some []
| a :: l0 -> Option.bind (f a) (fun b -> Option.bind (all f l0) (fun bs -> Some (b :: bs)))

(** val field : string -> (string * 'a1) list -> 'a1 option **)

let rec field name = function
| [] -> None
| p :: l0 -> let (key, v) = p in if (=) key name then Some v else field name l0

module Checker =
 functor (N:NUMBER) ->
 struct
  module C = Over(N)

  module D = Coq_Over(N)

  type value =
  | Whole of int
  | Number of N.t
  | Text of string
  | Items of value list
  | Fields of (string * value) list

  (** val get : string -> (value -> 'a1 option) -> value -> 'a1 option **)

  let get name f v =
    Option.bind (match v with
                 | Fields l -> field name l
                 | _ -> None) f

  (** val whole : value -> int option **)

  let whole = function
  | Whole n -> Some n
  | _ -> None

  (** val number : value -> N.t option **)

  let number = function
  | Number x -> Some x
  | _ -> None

  (** val text : value -> string option **)

  let text = function
  | Text s -> Some s
  | _ -> None

  (** val list_of : (value -> 'a1 option) -> value -> 'a1 list option **)

  let list_of f = function
  | Items l -> all f l
  | _ -> None

  (** val pair : (value -> 'a1 option) -> (value -> 'a2 option) -> value -> ('a1 * 'a2) option **)

  let pair f g = function
  | Items l ->
    (match l with
     | [] -> None
     | a :: l0 ->
       (match l0 with
        | [] -> None
        | b :: l1 ->
          (match l1 with
           | [] -> Option.bind (f a) (fun a0 -> Option.bind (g b) (fun b0 -> Some (a0, b0)))
           | _ :: _ -> None)))
  | _ -> None

  (** val rows : value -> (int list * N.t list) list option **)

  let rows =
    list_of (pair (list_of whole) (list_of number))

  (** val shape_of : value -> C.shape option **)

  let rec shape_of v =
    Option.map (fun x -> C.Shape x) (list_of shape_of v)

  (** val height : C.shape -> int **)

  let rec height = function
  | C.Shape l -> fold_right max 0 (map (fun s0 -> Stdlib.Int.succ (height s0)) l)

  (** val scheme_of : value -> (C.scheme * int) option **)

  let scheme_of v =
    Option.bind (get "kind" text v) (fun kind ->
      Option.bind (get "shape" shape_of v) (fun s ->
        let tree = fun how -> Some (C.Tree (how, s)) in
        Option.bind
          (field kind (("chain", (tree C.Replacement)) :: (("spechub", (tree C.Hub)) :: (("top-k",
            (tree C.Top)) :: (("greedy", (tree C.Greedy)) :: (("stratified", (tree C.Strata)) :: (("tree",
            (tree C.NoReplacement)) :: (("tree+", (tree C.Replacement)) :: (("paths",
            (Option.bind (get "count" whole v) (fun n -> Some (C.Paths (n, s))))) :: (("listed",
            (Option.bind (get "drafts" (list_of (pair number (list_of (list_of whole)))) v) (fun l -> Some
              (C.Listed l)))) :: [])))))))))) (fun made ->
          Option.bind made (fun made0 -> Some (made0, (height s))))))

  (** val instance_of : value -> C.instance option **)

  let instance_of v =
    Option.bind (get "vocab" whole v) (fun v0 ->
      Option.bind (get "target" rows v) (fun p ->
        Option.bind (get "proposal" rows v) (fun q ->
          Option.bind (get "draft" scheme_of v) (fun pat ->
            let (s, d) = pat in Some { vocab = v0; target = p; proposal = q; draws = s; depth = d }))))

  (** val stop_of : value list -> C.verification option **)

  let stop_of l =
    let c = List.concat_map (fun v -> match v with
                                      | Whole x -> x :: []
                                      | _ -> []) l in
    Option.bind (all number (skipn (List.length c) l)) (fun r -> Some (C.Stop (c,
      (match r with
       | [] -> None
       | _ :: _ -> Some r))))

  (** val verification_of : value -> C.verification option **)

  let rec verification_of = function
  | Text _ -> Some (C.Branch [])
  | Items l ->
    (match stop_of l with
     | Some v0 -> Some v0
     | None -> Option.map (fun x -> C.Branch x) (all (pair number verification_of) l))
  | Fields l ->
    (match l with
     | [] -> None
     | p :: _ ->
       let (_, v0) = p in
       Option.bind (pair (list_of whole) (list_of verification_of) v0) (fun pat ->
         let (c, l0) = pat in Some (C.Again (c, l0))))
  | _ -> None

  (** val found_of : (value -> 'a1 option) -> value -> ('a1 * (N.t * N.t)) option option **)

  let found_of prefix v =
    on (get "wrong" (fun x -> Some x) v) (Some None) (fun w ->
      Option.bind (get "prefix" prefix w) (fun u ->
        Option.bind (get "got" number w) (fun got ->
          Option.bind (get "want" number w) (fun want -> Some (Some (u, (got, want)))))))

  (** val certificate_of : value -> C.certificate option **)

  let certificate_of v =
    Option.bind (get "drafts" (list_of verification_of) v) (fun ks ->
      Option.bind (found_of (list_of whole) v) (fun found0 -> Some { calls =
        (or_else (get "calls" whole v) 0); verified = ks; invalid =
        (on (get "invalid" (fun x -> Some x) v) false (fun _ -> true)); found = found0; tau =
        (get "accepted" number v) }))

  (** val batch_of : value -> C.batch option **)

  let batch_of v =
    Option.bind (get "requests" (list_of instance_of) v) (fun rs ->
      Option.bind (get "batch" (list_of (list_of verification_of)) v) (fun ks ->
        Option.bind (found_of (list_of (list_of whole)) v) (fun found0 -> Some { requests = rs; judged = ks;
          claim = found0 })))

  (** val coupling_of : value -> C.coupling option **)

  let coupling_of v =
    Option.bind (get "of drafts" (list_of number) v) (fun u ->
      Option.bind (get "of blocks" (list_of number) v) (fun w ->
        Option.bind (get "optimum" number v) (fun m -> Some { plan =
          (get "plan" (list_of (list_of number)) v); of_drafts = u; of_blocks = w; optimum = m })))

  (** val polynomial_of : (N.t * int list list) list list -> value -> (N.t * int list list) list option **)

  let polynomial_of given v =
    Option.bind (whole v) (fun i -> List.nth_opt given i)

  (** val fact_of :
      (N.t * int list list) list list -> value -> ((N.t * int list list) list * int list) option **)

  let fact_of given =
    pair (polynomial_of given) (list_of whole)

  (** val clause_of :
      (N.t * int list list) list list -> value -> (((N.t * int list list) list * int list) list * (N.t * int
      list) list option) option **)

  let clause_of given =
    pair (list_of (fact_of given)) (fun v ->
      on (text v) (Option.map (fun x -> Some x) (list_of (pair number (list_of whole)) v)) (fun _ -> Some
        None))

  (** val terms_of : value -> (N.t * int list list) list option **)

  let terms_of v =
    Option.bind (list_of (pair number (list_of (list_of whole))) v) (fun l -> Some
      (D.total
        (map (fun pat -> let (c, a) = pat in D.times ((c, []) :: []) (D.product (map D.variable a))) l)))

  (** val run_of : (N.t * int list list) list list -> value -> D.run option **)

  let rec run_of given v =
    let drawn =
      list_of
        (pair whole
          (pair (pair number (pair (list_of (polynomial_of given)) (list_of (polynomial_of given))))
            (run_of given)))
    in
    (match v with
     | Items _ -> Option.map (fun x -> D.Stop x) (list_of whole v)
     | Fields l ->
       (match l with
        | [] -> Some D.Never
        | p :: _ ->
          let (key, v0) = p in
          if (=) key "cut"
          then Option.bind (pair (fact_of given) (pair (run_of given) (run_of given)) v0) (fun pat ->
                 let (p0, p1) = pat in let (p2, s) = p0 in let (yes, no) = p1 in Some (D.Cut (p2, s, yes, no)))
          else Option.bind (pair (list_of whole) drawn v0) (fun pat ->
                 let (c, l0) = pat in
                 Some (D.Draw
                 ((if (=) key "drafter" then D.Drafter c else if (=) key "next" then D.Next c else D.Coin),
                 l0))))
     | _ -> Some D.Never)

  (** val proof_of : value -> D.proof option **)

  let proof_of v =
    Option.bind (get "tokens" whole v) (fun v0 ->
      Option.bind (get "longest" whole v) (fun n ->
        Option.bind (get "polynomials" (list_of terms_of) v) (fun given ->
          Option.bind (get "excluded" (list_of (clause_of given)) v) (fun ks ->
            Option.bind (get "steps" whole v) (fun steps ->
              Option.bind (get "run" (run_of given) v) (fun k ->
                let children = get "children" (list_of whole) v in
                let again = or_else (get "replacement" text v) "true" in
                let law0 = or_else (get "law" (run_of given) v) (D.Stop []) in
                Some (D.Proof (v0, n, (on children true (fun _ -> false)), ((=) again "true"),
                (or_else children []), ks, steps, k, law0))))))))

  type outcome =
  | Begun of C.instance
  | Accepted of C.certificate
  | Optimal of C.coupling
  | Joint of C.batch
  | Proved of D.proof

  (** val line : C.instance option -> value -> outcome option **)

  let line now v =
    let read = fun o holds f -> on o [] (fun a -> (if holds a then Some (f a) else None) :: []) in
    let on_it = fun i ->
      (@) (read (certificate_of v) (C.check i) (fun x -> Accepted x))
        (read (coupling_of v) (C.check_optimum i) (fun x -> Optimal x))
    in
    nth 0
      ((@) (read (instance_of v) C.sound_instance (fun x -> Begun x))
        ((@) (read (batch_of v) C.check_batch (fun x -> Joint x))
          ((@) (read (proof_of v) D.check (fun x -> Proved x)) (on now [] on_it)))) None
 end
