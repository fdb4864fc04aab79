
(** val add : int -> int -> int **)

let rec add = (+)

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

(** val seq : int -> int -> int list **)

let rec seq = fun first n -> List.init n (fun i -> first + i)

(** val repeat : 'a1 -> int -> 'a1 list **)

let rec repeat = fun x n -> List.init n (fun _ -> x)

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

let rec zip f l m =
  match l with
  | [] -> []
  | a :: l0 -> (match m with
                | [] -> []
                | b :: m0 -> (f a b) :: (zip f l0 m0))

(** val both : ('a1 -> 'a2 -> bool) -> 'a1 list -> 'a2 list -> bool **)

let rec both h l m =
  match l with
  | [] -> (match m with
           | [] -> true
           | _ :: _ -> false)
  | a :: l0 -> (match m with
                | [] -> false
                | b :: m0 -> (&&) (h a b) (both h l0 m0))

module Over =
 functor (N:NUMBER) ->
 struct
  type token = int

  type context = token list

  type row = N.t list

  (** val sum : N.t list -> N.t **)

  let sum l =
    fold_right N.add N.zero l

  (** val at_token : row -> token -> N.t **)

  let at_token r x =
    nth x r N.zero

  (** val times : int -> N.t -> N.t **)

  let rec times n x =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> N.zero)
      (fun n0 -> N.add x (times n0 x))
      n

  (** val distribution : N.t list -> bool **)

  let distribution l =
    (&&) (List.for_all (fun m -> not (N.less m N.zero)) l) (N.equal (sum l) N.one)

  type table = (context * row) list

  (** val find : table -> context -> row option **)

  let rec find t0 c =
    match t0 with
    | [] -> None
    | p :: t1 -> let (d, r) = p in if both (=) c d then Some r else find t1 c

  (** val row_of : table -> context -> row **)

  let rec row_of t0 c =
    match find t0 c with
    | Some r -> r
    | None -> (match c with
               | [] -> []
               | _ :: suffix -> row_of t0 suffix)

  (** val is_row : int -> row -> bool **)

  let is_row v r =
    (&&) ((=) (List.length r) v) (distribution r)

  (** val is_table : int -> table -> bool **)

  let is_table v t0 =
    (&&) (List.for_all (fun pat -> let (_, r) = pat in is_row v r) t0)
      (match find t0 [] with
       | Some _ -> true
       | None -> false)

  type 'a law = (N.t * 'a) list

  (** val ret : 'a1 -> 'a1 law **)

  let ret a =
    (N.one, a) :: []

  (** val bind : 'a1 law -> ('a1 -> 'a2 law) -> 'a2 law **)

  let bind m f =
    List.concat_map (fun pat ->
      let (w, a) = pat in map (fun pat0 -> let (v, b) = pat0 in ((N.mul w v), b)) (f a)) m

  (** val drawn : token -> row -> token law **)

  let rec drawn x = function
  | [] -> []
  | m :: r0 ->
    if N.less N.zero m then (m, x) :: (drawn (Stdlib.Int.succ x) r0) else drawn (Stdlib.Int.succ x) r0

  (** val draw : row -> token law **)

  let draw =
    drawn 0

  (** val normalise : row -> row **)

  let normalise r =
    let mass0 = sum r in if N.less N.zero mass0 then map (fun m -> N.div m mass0) r else r

  (** val emptied : token -> token list -> row -> row **)

  let rec emptied x tokens = function
  | [] -> []
  | m :: r0 -> (if List.exists ((=) x) tokens then N.zero else m) :: (emptied (Stdlib.Int.succ x) tokens r0)

  (** val without : row -> token list -> row **)

  let without r tokens =
    normalise (emptied 0 tokens r)

  (** val has_mass : row -> bool **)

  let has_mass r =
    N.less N.zero (sum r)

  (** val placed : (N.t * token) -> token law -> token law **)

  let rec placed a = function
  | [] -> a :: []
  | b :: l0 -> if N.less (fst a) (fst b) then b :: (placed a l0) else a :: (b :: l0)

  (** val ordered : row -> token law **)

  let ordered r =
    fold_right placed [] (draw r)

  (** val likeliest : row -> int -> token list **)

  let likeliest r n =
    firstn n (map snd (ordered r))

  (** val inclusion : int -> token law -> token law **)

  let rec inclusion sure l = match l with
  | [] -> []
  | p :: rest ->
    let (m, x) = p in
    let mass0 = sum (map fst l) in
    if N.less (times sure m) mass0
    then map (fun pat -> let (m0, x0) = pat in ((N.div (times sure m0) mass0), x0)) l
    else (N.one, x) :: (inclusion (sub sure (Stdlib.Int.succ 0)) rest)

  (** val overlap : N.t -> N.t -> N.t -> N.t **)

  let overlap start m j =
    let low = if N.less start j then j else start in
    let high = if N.less (N.add start m) (N.add j N.one) then N.add start m else N.add j N.one in
    if N.less low high then N.sub high low else N.zero

  (** val stratum : N.t -> N.t -> token law -> token -> N.t **)

  let rec stratum j start l x =
    match l with
    | [] -> N.zero
    | p :: l0 -> let (m, y) = p in if (=) x y then overlap start m j else stratum j (N.add start m) l0 x

  (** val strata : row -> int -> row list **)

  let strata r n =
    let order = ordered r in
    let n0 = min n (List.length order) in
    let line0 = inclusion n0 order in
    map (fun j -> map (stratum (times j N.one) N.zero line0) (seq 0 (List.length r))) (seq 0 n0)

  (** val each_of : row list -> token list law **)

  let rec each_of = function
  | [] -> ret []
  | r :: rows1 -> bind (draw r) (fun x -> bind (each_of rows1) (fun l -> ret (x :: l)))

  (** val one_by_one : int -> row -> token list law **)

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

  (** val siblings : drawing -> row -> int -> token list law **)

  let siblings how q n =
    match how with
    | Replacement -> each_of (repeat q n)
    | NoReplacement -> one_by_one n q
    | Top -> ret (likeliest q n)
    | Greedy ->
      let top = likeliest q (sub n (Stdlib.Int.succ 0)) in
      let rest = without q top in
      if has_mass rest then bind (draw rest) (fun x -> ret (x :: top)) else ret top
    | Hub ->
      let hub = nth 0 (likeliest q (Stdlib.Int.succ 0)) 0 in
      let rest = without q (hub :: []) in
      bind (draw q) (fun x ->
        if not ((=) x hub)
        then ret (x :: (hub :: []))
        else if has_mass rest then bind (draw rest) (fun y -> ret (x :: (y :: []))) else ret (x :: []))
    | Strata -> each_of (strata q n)

  type draft =
  | Drafted of (token * draft) list

  type shape =
  | Shape of shape list

  (** val grow : drawing -> (context -> row) -> shape -> context -> draft law **)

  let rec grow how q s c =
    let Shape below0 = s in
    (match below0 with
     | [] -> ret (Drafted [])
     | _ :: _ ->
       bind (siblings how (q c) (List.length below0)) (fun tokens ->
         bind
           (let rec all0 below1 tokens0 =
              match below1 with
              | [] -> ret []
              | s0 :: below2 ->
                (match tokens0 with
                 | [] -> ret []
                 | x :: tokens1 ->
                   bind (grow how q s0 ((@) c (x :: []))) (fun d ->
                     bind (all0 below2 tokens1) (fun rest -> ret ((x, d) :: rest))))
            in all0 below0 tokens) (fun l -> ret (Drafted l))))

  (** val every : int -> int -> shape **)

  let rec every n depth0 =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> Shape [])
      (fun depth1 -> Shape (repeat (every n depth1) n))
      depth0

  (** val paths : (context -> row) -> int -> int -> context -> (token * draft) list law **)

  let rec paths q count depth0 c =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> ret [])
      (fun count0 ->
      bind (grow Replacement q (every (Stdlib.Int.succ 0) depth0) c) (fun pat ->
        let Drafted path = pat in bind (paths q count0 depth0 c) (fun rest -> ret ((@) path rest))))
      count

  type scheme =
  | Tree of drawing * shape
  | Paths of int * int
  | Listed of draft law

  (** val drafts : scheme -> (context -> row) -> context -> draft law **)

  let drafts s q c =
    match s with
    | Tree (how, s0) -> grow how q s0 c
    | Paths (count, depth0) -> bind (paths q count depth0 c) (fun l -> ret (Drafted l))
    | Listed l -> l

  type verification =
  | Branch of verification law
  | Stop of context * row option
  | Again of context * verification list

  (** val node : draft -> context -> bool **)

  let rec node d = function
  | [] -> true
  | x :: c0 ->
    let Drafted below0 = d in List.exists (fun pat -> let (y, d0) = pat in (&&) ((=) x y) (node d0 c0)) below0

  (** val sampler : int -> bool -> (context -> draft law) -> draft option -> verification -> bool **)

  let rec sampler v once d d0 = function
  | Branch l ->
    (&&) (distribution (map fst l)) (List.for_all (fun pat -> let (_, k0) = pat in sampler v once d d0 k0) l)
  | Stop (c, extra) ->
    (&&) (match d0 with
          | Some d1 -> node d1 c
          | None -> true) (match extra with
                           | Some r -> is_row v r
                           | None -> true)
  | Again (c, l) ->
    (&&) ((&&) (match d0 with
                | Some _ -> false
                | None -> true) (distribution (map fst (d c))))
      (both (fun k0 pat -> let (_, d1) = pat in sampler v once d (if once then Some d1 else None) k0) l (d c))

  type ending = N.t * (context * row option)

  (** val endings : (context -> draft law) -> N.t -> verification -> ending list **)

  let rec endings d w = function
  | Branch l -> List.concat_map (fun pat -> let (m, k0) = pat in endings d (N.mul w m) k0) l
  | Stop (c, extra) -> (w, (c, extra)) :: []
  | Again (c, l) -> List.concat (zip (fun k0 pat -> let (v, _) = pat in endings d (N.mul w v) k0) l (d c))

  (** val follows : (context -> row) -> context -> context -> N.t **)

  let rec follows p c = function
  | [] -> N.one
  | x :: u0 -> N.mul (at_token (p c) x) (follows p ((@) c (x :: [])) u0)

  (** val begins : (context -> row) -> context -> context -> row option -> context -> N.t **)

  let rec begins p c d extra = function
  | [] -> N.one
  | x :: u0 ->
    (match d with
     | [] -> N.mul (at_token (match extra with
                              | Some r -> r
                              | None -> p c) x) (follows p ((@) c (x :: [])) u0)
     | y :: d0 -> if (=) x y then begins p ((@) c (x :: [])) d0 extra u0 else N.zero)

  (** val mass : (context -> row) -> ending list -> context -> context -> N.t **)

  let mass p l c u =
    sum (map (fun pat -> let (w, y) = pat in let (d, extra) = y in N.mul w (begins p c d extra u)) l)

  (** val accepted : ending list -> N.t **)

  let accepted l =
    sum (map (fun pat -> let (w, y) = pat in let (d, _) = y in times (List.length d) w) l)

  (** val below : token -> ending list -> ending list **)

  let below x l =
    List.concat_map (fun pat ->
      let (w, y) = pat in
      let (d, extra) = y in
      (match d with
       | [] -> []
       | y0 :: d0 -> if (=) x y0 then (w, (d0, extra)) :: [] else [])) l

  (** val following : ending list -> N.t **)

  let following l =
    sum
      (map (fun pat ->
        let (w, y) = pat in
        let (d, extra) = y in
        (match d with
         | [] -> (match extra with
                  | Some _ -> N.zero
                  | None -> w)
         | _ :: _ -> N.zero)) l)

  (** val added : ending list -> token -> N.t **)

  let added l x =
    sum
      (map (fun pat ->
        let (w, y) = pat in
        let (d, extra) = y in
        (match d with
         | [] -> (match extra with
                  | Some r -> N.mul w (at_token r x)
                  | None -> N.zero)
         | _ :: _ -> N.zero)) l)

  (** val right : (context -> row) -> int -> int -> context -> ending list -> N.t -> N.t -> bool **)

  let rec right p v fuel c l here want =
    match l with
    | [] -> N.equal here want
    | _ :: _ ->
      ((fun fO fS n -> if n=0 then fO () else fS (n-1))
         (fun _ -> false)
         (fun fuel0 ->
         let here0 = N.add here (following l) in
         let r = p c in
         List.for_all (fun x ->
           right p v fuel0 ((@) c (x :: [])) (below x l) (N.add (N.mul here0 (at_token r x)) (added l x))
             (N.mul want (at_token r x))) (seq 0 v))
         fuel)

  type instance = { vocab : int; target : table; proposal : table; draws : scheme; depth : int }

  (** val vocab : instance -> int **)

  let vocab i =
    i.vocab

  (** val target : instance -> table **)

  let target i =
    i.target

  (** val proposal : instance -> table **)

  let proposal i =
    i.proposal

  (** val draws : instance -> scheme **)

  let draws i =
    i.draws

  (** val depth : instance -> int **)

  let depth i =
    i.depth

  type verdict =
  | Lossless
  | Wrong of context * N.t * N.t

  type certificate = { calls : int; verified : verification list; found : verdict; tau : N.t option }

  (** val calls : certificate -> int **)

  let calls c =
    c.calls

  (** val verified : certificate -> verification list **)

  let verified c =
    c.verified

  (** val found : certificate -> verdict **)

  let found c =
    c.found

  (** val tau : certificate -> N.t option **)

  let tau c =
    c.tau

  (** val sound_instance : instance -> bool **)

  let sound_instance i =
    (&&) (is_table (vocab i) (target i)) (is_table (vocab i) (proposal i))

  (** val drafted : instance -> context -> draft law **)

  let drafted i =
    drafts (draws i) (row_of (proposal i))

  (** val longest : instance -> certificate -> int **)

  let longest i k =
    add (depth i) (calls k)

  (** val verdict_holds : instance -> certificate -> ending list -> bool **)

  let verdict_holds i k l =
    let p = row_of (target i) in
    (match found k with
     | Lossless -> right p (vocab i) (Stdlib.Int.succ (longest i k)) [] l N.zero N.one
     | Wrong (u, got, want) ->
       (&&)
         ((&&)
           ((&&) ((||) ((=) (calls k) 0) ((<=) (List.length u) (longest i k))) (N.equal (mass p l [] u) got))
           (N.equal (follows p [] u) want)) (not (N.equal got want)))

  (** val check : instance -> certificate -> bool **)

  let check i k =
    let once = (=) (calls k) 0 in
    let process = Again ([], (verified k)) in
    let l = endings (drafted i) N.one process in
    (&&)
      ((&&) (sampler (vocab i) once (drafted i) None process)
        (match tau k with
         | Some mean -> (&&) once (N.equal (accepted l) mean)
         | None -> true)) (verdict_holds i k l)

  type coupling = { plan : row list; of_drafts : N.t list; of_blocks : N.t list; optimum : N.t }

  (** val plan : coupling -> row list **)

  let plan c =
    c.plan

  (** val of_drafts : coupling -> N.t list **)

  let of_drafts c =
    c.of_drafts

  (** val of_blocks : coupling -> N.t list **)

  let of_blocks c =
    c.of_blocks

  (** val optimum : coupling -> N.t **)

  let optimum c =
    c.optimum

  (** val agree : context -> draft -> int **)

  let rec agree y d =
    match y with
    | [] -> 0
    | x :: y0 ->
      let Drafted below0 = d in
      fold_right (fun pat most ->
        let (z, d0) = pat in if (=) x z then max (Stdlib.Int.succ (agree y0 d0)) most else most) 0 below0

  (** val blocks : (context -> row) -> int -> context -> context law **)

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

  (** val no_less : N.t -> N.t -> bool **)

  let no_less x y =
    not (N.less x y)

  (** val couples : N.t list -> N.t list -> row list -> bool **)

  let couples ws ms f =
    (&&) (both (fun w f0 -> (&&) (N.equal (sum f0) w) (both (fun x _ -> no_less x N.zero) f0 ms)) ws f)
      (both N.equal (fold_right plus (map (fun _ -> N.zero) ms) f) ms)

  (** val worth : row list -> row list -> N.t **)

  let worth f r =
    sum (zip dot f r)

  (** val best : N.t list -> N.t list -> row list -> coupling -> bool **)

  let best ws ms r c =
    (&&)
      ((&&)
        ((&&) ((&&) ((=) (List.length (of_blocks c)) (List.length ms)) (couples ws ms (plan c)))
          (both (fun u r0 -> both (fun v x -> no_less (N.add u v) x) (of_blocks c) r0) (of_drafts c) r))
        (N.equal (worth (plan c) r) (optimum c)))
      (N.equal (N.add (dot ws (of_drafts c)) (dot ms (of_blocks c))) (optimum c))

  (** val rewards : draft law -> context law -> row list **)

  let rewards ds ys =
    map (fun pat -> let (_, d) = pat in map (fun pat0 -> let (_, y) = pat0 in times (agree y d) N.one) ys) ds

  (** val check_optimum : instance -> coupling -> bool **)

  let check_optimum i c =
    let ds = drafted i [] in
    let ys = blocks (row_of (target i)) (depth i) [] in best (map fst ds) (map fst ys) (rewards ds ys) c
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

  (** val rows : value -> C.table option **)

  let rows =
    list_of (pair (list_of whole) (list_of number))

  (** val shape_of : value -> C.shape option **)

  let rec shape_of v =
    Option.map (fun x -> C.Shape x) (list_of shape_of v)

  (** val height : C.shape -> int **)

  let rec height = function
  | C.Shape l -> fold_right max 0 (map (fun s0 -> Stdlib.Int.succ (height s0)) l)

  (** val tree_of : value -> C.draft option **)

  let rec tree_of v =
    Option.map (fun x -> C.Drafted x) (list_of (pair whole tree_of) v)

  (** val scheme_of : value -> (C.scheme * int) option **)

  let scheme_of v =
    Option.bind (get "kind" text v) (fun kind ->
      let depth0 = get "depth" whole v in
      let shaped = fun how s -> Option.bind s (fun s0 -> Some ((C.Tree (how, s0)), (height s0))) in
      let drawn0 = fun how -> shaped how (get "shape" shape_of v) in
      let regular = fun how n -> shaped how (Option.map (C.every n) depth0) in
      if (=) kind "chain"
      then regular C.Replacement (Stdlib.Int.succ 0)
      else if (=) kind "spechub"
           then regular C.Hub (Stdlib.Int.succ (Stdlib.Int.succ 0))
           else if (=) kind "top-k"
                then drawn0 C.Top
                else if (=) kind "greedy"
                     then drawn0 C.Greedy
                     else if (=) kind "stratified"
                          then drawn0 C.Strata
                          else if (=) kind "tree"
                               then Option.bind (get "replacement" text v) (fun again ->
                                      drawn0 (if (=) again "true" then C.Replacement else C.NoReplacement))
                               else Option.bind depth0 (fun d ->
                                      if (=) kind "paths"
                                      then Option.bind (get "count" whole v) (fun n -> Some ((C.Paths (n,
                                             d)), d))
                                      else if (=) kind "listed"
                                           then Option.bind (get "drafts" (list_of (pair number tree_of)) v)
                                                  (fun l -> Some ((C.Listed l), d))
                                           else None))

  (** val instance_of : value -> C.instance option **)

  let instance_of v =
    Option.bind (get "vocab" whole v) (fun v0 ->
      Option.bind (get "target" rows v) (fun p ->
        Option.bind (get "proposal" rows v) (fun q ->
          Option.bind (get "draft" scheme_of v) (fun pat ->
            let (s, d) = pat in Some { C.vocab = v0; C.target = p; C.proposal = q; C.draws = s; C.depth = d }))))

  (** val outcomes : value -> bool **)

  let outcomes = function
  | Items l -> (match l with
                | [] -> false
                | v0 :: _ -> (match v0 with
                              | Items _ -> true
                              | _ -> false))
  | _ -> false

  (** val stop_of : value list -> (C.context * C.row) option **)

  let rec stop_of l = match l with
  | [] -> Option.bind (all number l) (fun r -> Some ([], r))
  | v :: l0 ->
    (match v with
     | Whole x -> Option.bind (stop_of l0) (fun pat -> let (c, r) = pat in Some ((x :: c), r))
     | _ -> Option.bind (all number l) (fun r -> Some ([], r)))

  (** val verification_of : value -> C.verification option **)

  let rec verification_of v = match v with
  | Items l ->
    if outcomes v
    then Option.map (fun x -> C.Branch x) (all (pair number verification_of) l)
    else Option.bind (stop_of l) (fun pat ->
           let (c, r) = pat in Some (C.Stop (c, (match r with
                                                 | [] -> None
                                                 | _ :: _ -> Some r))))
  | Fields l ->
    (match l with
     | [] -> None
     | p :: _ ->
       let (_, v0) = p in
       Option.bind (pair (list_of whole) (list_of verification_of) v0) (fun pat ->
         let (c, l0) = pat in Some (C.Again (c, l0))))
  | _ -> None

  (** val certificate_of : value -> C.certificate option **)

  let certificate_of v =
    Option.bind (get "drafts" (list_of verification_of) v) (fun ks ->
      let calls0 = match get "calls" whole v with
                   | Some n -> n
                   | None -> 0 in
      let mean = get "accepted" number v in
      (match get "wrong" (fun x -> Some x) v with
       | Some w ->
         Option.bind (get "prefix" (list_of whole) w) (fun u ->
           Option.bind (get "got" number w) (fun got ->
             Option.bind (get "want" number w) (fun want -> Some { C.calls = calls0; C.verified = ks;
               C.found = (C.Wrong (u, got, want)); C.tau = mean })))
       | None -> Some { C.calls = calls0; C.verified = ks; C.found = C.Lossless; C.tau = mean }))

  (** val coupling_of : value -> C.coupling option **)

  let coupling_of v =
    Option.bind (get "plan" (list_of (list_of number)) v) (fun f ->
      Option.bind (get "of drafts" (list_of number) v) (fun u ->
        Option.bind (get "of blocks" (list_of number) v) (fun w ->
          Option.bind (get "optimum" number v) (fun m -> Some { C.plan = f; C.of_drafts = u; C.of_blocks = w;
            C.optimum = m }))))

  type outcome =
  | Begun of C.instance
  | Accepted of C.certificate
  | Optimal of C.coupling
  | Refused

  (** val line : C.instance option -> value -> outcome **)

  let line now v =
    match get "vocab" (fun x -> Some x) v with
    | Some _ ->
      (match instance_of v with
       | Some i -> if C.sound_instance i then Begun i else Refused
       | None -> Refused)
    | None ->
      (match now with
       | Some i ->
         (match certificate_of v with
          | Some k -> if C.check i k then Accepted k else Refused
          | None ->
            (match coupling_of v with
             | Some c -> if C.check_optimum i c then Optimal c else Refused
             | None -> Refused))
       | None -> Refused)
 end
