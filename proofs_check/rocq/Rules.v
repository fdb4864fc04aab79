(** Single-step rules: their lift to trees, and the plan of the priority rule, over any kind of number. *)

Require Import List Arith.
Require Import Programs.
Import ListNotations.

Module Over (N : NUMBER).
Include Programs.Over N.

(** ** The lift of a rule *)

Section Lift.
Variable V : nat.
Variable p : context -> row.

(** The rule: of a row and the drawn children, the mass of each child, and the row that is left. *)
Variable masses : context -> nat -> row -> list token -> list N.num.
Variable rest_of : context -> nat -> row -> row.

(** A node entered with rate [a]: its children with their masses, then the node itself. *)
Definition lift_at (s : shape) (c : context) (a : N.num) (d : children)
    (try : list N.num -> N.num -> program (option stop)) : program (option stop) :=
  match s with
  | NoShape => Accept a (fun accepted => Return (if accepted then Some (c, p c) else None))
  | Shape _ _ =>
      let t := scale a (p c) in
      let rest := rest_of c (count s) t in
      bind (try (masses c (count s) t (tokens_of d)) N.one) (fun found =>
        match found with
        | Some stop => Return (Some stop)
        | None =>
            let S := total V rest in
            Accept (share S (N.add S (N.sub N.one a))) (fun accepted =>
              Return (if accepted then Some (c, normalise V rest) else None))
        end)
  end.

(** Each child's subtree is entered with its mass over what the earlier ones left of 1. *)
Fixpoint lift (s : shape) (c : context) (d : children) (ws : list N.num) (unused : N.num) : program (option stop) :=
  match s, d, ws with
  | Shape below rest, Child x b r, w :: ws =>
      bind (lift_at below (c ++ [x]) (share w unused) b (lift below (c ++ [x]) b)) (fun found =>
        match found with Some stop => Return (Some stop) | None => lift rest c r ws (N.sub unused w) end)
  | _, _, _ => Return None
  end.

End Lift.

(** ** The plan of the priority rule *)

(** minimum: The smaller of two numbers. *)
Definition minimum (a b : N.num) : N.num := if N.less b a then b else a.
Definition product (factors : list N.num) : N.num := fold_right N.mul N.one factors.

(** One token, sibling by sibling: the rates, and what is then left of [unkept] and of the token's mass.
    [earlier] is the product of [unkept] over the siblings before. *)
Fixpoint plan_token (x : token) (laws : list row) (unkept : list N.num) (earlier owed : N.num) :
    list N.num * list N.num * N.num :=
  match laws, unkept with
  | R :: laws, u :: unkept =>
      let most := N.mul (R x) (N.mul earlier (product unkept)) in
      let mass := minimum owed most in
      let rate := share mass most in
      let u := N.sub u (N.mul (R x) rate) in
      let '(rates, after, owed) := plan_token x laws unkept (N.mul earlier u) (N.sub owed mass) in
      (rate :: rates, u :: after, owed)
  | _, _ => ([], [], owed)
  end.

(** Token by token in [order]: each token with its rate for every sibling, and what is left of the row. *)
Fixpoint plan (order : list token) (laws : list row) (unkept : list N.num) (owed : row) :
    list (token * list N.num) * row :=
  match order with
  | [] => ([], owed)
  | x :: order =>
      let '(rates, unkept, owed_x) := plan_token x laws unkept N.one (owed x) in
      let '(rest, owed) := plan order laws unkept (fun y => if y =? x then owed_x else owed y) in
      ((x, rates) :: rest, owed)
  end.

(** The shares of the drawn tokens that are judged with one token's rates, and the chance that none is kept. *)
Fixpoint shares_at (x : token) (rates : list N.num) (drawn : list token) (unkept : N.num) : list N.num * N.num :=
  match rates, drawn with
  | rate :: rates, y :: drawn =>
      let kept := if x =? y then N.mul unkept rate else N.zero in
      let '(shares, unkept) := shares_at x rates drawn (N.sub unkept kept) in
      (kept :: shares, unkept)
  | _, _ => (map (fun _ => N.zero) drawn, unkept)
  end.

Fixpoint added (a b : list N.num) : list N.num :=
  match a, b with x :: a, y :: b => N.add x y :: added a b | _, _ => [] end.

(** The probability with which each drawn token is the one that is kept. *)
Fixpoint shares (planned : list (token * list N.num)) (drawn : list token) (unkept : N.num) : list N.num :=
  match planned with
  | [] => map (fun _ => N.zero) drawn
  | (x, rates) :: planned =>
      let '(now, unkept) := shares_at x rates drawn unkept in
      added now (shares planned drawn unkept)
  end.

(** Siblings are drawn independently, each from its own row. *)
Fixpoint draw_each (laws : list row) : program (list token) :=
  match laws with
  | [] => Return []
  | R :: laws => Choose R (fun x => bind (draw_each laws) (fun drawn => Return (x :: drawn)))
  end.

(** The order of the rule: the largest t / sum_j R_j first, ties by id; tokens that no sibling can be are left out. *)
Definition included (laws : list row) (x : token) : N.num := fold_right (fun (R : row) sum => N.add (R x) sum) N.zero laws.

Definition by_ratio (V : nat) (laws : list row) (t : row) : list token :=
  let ratio x := N.div (t x) (included laws x) in
  fold_right (place (fun y x => N.less (ratio x) (ratio y))) []
    (filter (fun x => N.less N.zero (included laws x)) (vocabulary V)).

(** The rule for the row [t], with the tokens judged in [order]. *)
Definition planned (order : list row -> row -> list token) (laws : list row) (t : row) : list (token * list N.num) * row :=
  plan (order laws t) laws (map (fun _ => N.one) laws) t.

Definition priority_masses (order : list row -> row -> list token) (laws : list row) (t : row) (drawn : list token) :
    list N.num :=
  shares (fst (planned order laws t)) drawn N.one.

(** The drawn tokens that are judged with one token's rates, each with a coin; [j] is the first one's number. *)
Fixpoint judge_token (x : token) (rates : list N.num) (drawn : list token) (j : nat) (otherwise : program (option nat)) :
    program (option nat) :=
  match rates, drawn with
  | rate :: rates, y :: drawn =>
      let next := judge_token x rates drawn (S j) otherwise in
      if x =? y then Accept rate (fun kept => if kept then Return (Some j) else next) else next
  | _, _ => otherwise
  end.

(** The number of the child that is kept, if any. *)
Fixpoint judge (steps : list (token * list N.num)) (drawn : list token) : program (option nat) :=
  match steps with
  | [] => Return None
  | (x, rates) :: steps => judge_token x rates drawn 0 (judge steps drawn)
  end.

(** The priority rule node by node (theory/verifiers/priority.py). *)
Section Nodes.
Variable V : nat.
Variable p : context -> row.
Variable laws : context -> nat -> list row.

Definition priority_node (s : shape) (siblings : children) (c : context) (go : nat -> program stop) : program stop :=
  match s with
  | NoShape => Return (c, p c)
  | Shape _ _ =>
      let found := planned (by_ratio V) (laws c (count s)) (p c) in
      bind (judge (fst found) (tokens_of siblings)) (fun kept =>
        match kept with Some j => go j | None => Return (c, normalise V (snd found)) end)
  end.

Fixpoint kept_child (s : shape) (siblings : children) (c : context) (j : nat) : program stop :=
  match s, siblings, j with
  | Shape below _, Child x b _, 0 => priority_node below b (c ++ [x]) (kept_child below b (c ++ [x]))
  | Shape _ rest, Child _ _ r, S j => kept_child rest r c j
  | _, _, _ => Return (c, p c)
  end.

Definition priority (s : shape) (siblings : children) (c : context) : program stop :=
  priority_node s siblings c (kept_child s siblings c).

End Nodes.

(** The lift of the priority rule (theory/verifiers/lifted_priority.py). *)
Definition lifted_priority (V : nat) (p : context -> row) (laws : context -> nat -> list row) (s : shape)
    (siblings : children) (c : context) : program (option stop) :=
  let masses c k := priority_masses (by_ratio V) (laws c k) in
  let rest_of c k t := snd (planned (by_ratio V) (laws c k) t) in
  lift_at V p masses rest_of s c N.one siblings (lift V p masses rest_of s c siblings).

(** ** The plans of K-SEQ (theory/verifiers/k_seq.py and lifted_k_seq.py) *)

(** The children are judged in turn: [rates] says of each how likely a token is kept.  The probability with which each
    drawn token is the one that is kept. *)
Fixpoint in_turn (rates : list row) (drawn : list token) (unkept : N.num) : list N.num :=
  match rates, drawn with
  | rate :: rates, x :: drawn =>
      let kept := N.mul unkept (rate x) in kept :: in_turn rates drawn (N.sub unkept kept)
  | _, _ => map (fun _ => N.zero) drawn
  end.

(** 1 + (1 - b) + .. + (1 - b)^(k-1), and (1 - b)^k. *)
Fixpoint geometric (b : N.num) (k : nat) : N.num :=
  match k with 0 => N.zero | S k => N.add N.one (N.mul (N.sub N.one b) (geometric b k)) end.
Fixpoint late (b : N.num) (k : nat) : N.num := match k with 0 => N.one | S k => N.mul (N.sub N.one b) (late b k) end.

Section KSeq.
Variable V : nat.
Variables rho : N.num.
Variables t q : row.

Definition kept_once : row := fun x => minimum (N.div (t x) rho) (q x).
Definition k_seq_rate : row := fun x => share (t x) (N.mul rho (q x)).
Definition k_seq_rates (k : nat) : list row := repeat k_seq_rate k.
Definition k_seq_left (k : nat) : row := excess t (scale (geometric (total V kept_once) k) kept_once).

(** With the last child's own rate. *)
Definition t_last (k : nat) : row := scale (N.sub N.one (N.div (geometric (total V kept_once) k) rho)) t.
Definition q_last (k : nat) : row := scale (late (total V kept_once) k) q.
Definition last_rate (k : nat) : row := fun x => share (t_last k x) (q_last k x).
Definition lifted_k_seq_rates (k : nat) : list row := match k with 0 => [] | S k => k_seq_rates k ++ [last_rate k] end.
Definition lifted_k_seq_left (k : nat) : row :=
  match k with
  | 0 => t
  | S k => excess t (fun x => N.add (N.mul (geometric (total V kept_once) k) (kept_once x)) (minimum (t_last k x) (q_last k x)))
  end.

End KSeq.

(** ** The optimum of a node (theory/verifiers/shared/optimal.py) *)

(** The first token of the order that was drawn. *)
Fixpoint leading (order drawn : list token) : option token :=
  match order with
  | [] => None
  | x :: order => if existsb (Nat.eqb x) drawn then Some x else leading order drawn
  end.

Fixpoint reduced (x : token) (laws : list row) (rest : list N.num) : list N.num :=
  match laws, rest with
  | R :: laws, u :: rest => positive (N.sub u (R x)) :: reduced x laws rest
  | _, _ => []
  end.

(** How often each token leads: [rest] is what each row has off the tokens before. *)
Fixpoint leads (order : list token) (laws : list row) (rest : list N.num) : row :=
  match order with
  | [] => fun _ => N.zero
  | x :: order =>
      let after := reduced x laws rest in
      fun y => if y =? x then N.sub (product rest) (product after) else leads order laws after y
  end.

(** A law of orders: chances and orders. *)
Definition lead (orders : list (N.num * list token)) (laws : list row) : row := fun y =>
  fold_right (fun '(chance, order) sum => N.add (N.mul chance (leads order laws (map (fun _ => N.one) laws) y)) sum)
    N.zero orders.

(** How likely x is drawn, leads and is kept. *)
Definition keeps (orders : list (N.num * list token)) (rate : row) (drawn : list token) : row := fun x =>
  fold_right (fun '(chance, order) sum =>
    match leading order drawn with
    | Some y => if y =? x then N.add (N.mul chance (rate x)) sum else sum
    | None => sum
    end) N.zero orders.

Fixpoint each_part (weight : row) (drawn : list token) (parts : list N.num) : list N.num :=
  match drawn, parts with
  | x :: drawn, part :: parts => N.mul (weight x) part :: each_part weight drawn parts
  | _, _ => []
  end.

(** Node by node, for a rule that gives each drawn child its share of being the one that is kept. *)
Fixpoint one_kept (ws : list N.num) (unused : N.num) (j : nat) : program (option nat) :=
  match ws with
  | [] => Return None
  | w :: ws => Accept (share w unused) (fun kept => if kept then Return (Some j) else one_kept ws (N.sub unused w) (S j))
  end.

Section GoDown.
Variable V : nat.
Variable p : context -> row.
Variable masses : context -> nat -> row -> list token -> list N.num.
Variable rest_of : context -> nat -> row -> row.

Definition enter_node (s : shape) (siblings : children) (c : context) (go : nat -> program stop) : program stop :=
  match s with
  | NoShape => Return (c, p c)
  | Shape _ _ =>
      bind (one_kept (masses c (count s) (p c) (tokens_of siblings)) N.one 0) (fun kept =>
        match kept with Some j => go j | None => Return (c, normalise V (rest_of c (count s) (p c))) end)
  end.

Fixpoint enter_child (s : shape) (siblings : children) (c : context) (j : nat) : program stop :=
  match s, siblings, j with
  | Shape below _, Child x b _, 0 => enter_node below b (c ++ [x]) (enter_child below b (c ++ [x]))
  | Shape _ rest, Child _ _ r, S j => enter_child rest r c j
  | _, _, _ => Return (c, p c)
  end.

Definition go_down (s : shape) (siblings : children) (c : context) : program stop :=
  enter_node s siblings c (enter_child s siblings c).

End GoDown.

(** [orders] is the plan's law of orders; [parts]: how the copies of a token share what it gets. *)
Section Optimal.
Variable V : nat.
Variable p : context -> row.
Variable laws : context -> nat -> list row.
Variable orders : context -> nat -> row -> list (N.num * list token).
Variable parts : context -> nat -> list token -> list N.num.

Definition optimal_masses (c : context) (k : nat) (t : row) (drawn : list token) : list N.num :=
  let rate x := share (t x) (lead (orders c k t) (laws c k) x) in
  each_part (keeps (orders c k t) rate drawn) drawn (parts c k drawn).

Definition optimal_rest (c : context) (k : nat) (t : row) : row := excess t (lead (orders c k t) (laws c k)).

(** Node by node (theory/verifiers/optimal.py). *)
Definition optimal := go_down V p optimal_masses optimal_rest.

(** The lift (theory/verifiers/lifted_optimal.py). *)
Definition lifted_optimal (s : shape) (siblings : children) (c : context) : program (option stop) :=
  lift_at V p optimal_masses optimal_rest s c N.one siblings (lift V p optimal_masses optimal_rest s c siblings).

End Optimal.

(** ** HSD over paths that are drawn apart (theory/verifiers/hsd_multidraft.py) *)

Section Multidraft.
Variable V : nat.
Variables p q : context -> row.

(** What is left of a word that begins with [d]. *)
Fixpoint after_prefix (d word : list token) : option (list token) :=
  match d, word with
  | [], _ => Some word
  | x :: d, y :: word => if x =? y then after_prefix d word else None
  | _, [] => None
  end.

(** The target with the row [r] at [v]. *)
Definition replaced (v : context) (r : row) : context -> row :=
  fun c => match after_prefix v c with Some [] => r | _ => p c end.

(** Verification stopped at [v] with the row [r]; a path from [c] that goes on below [v] is verified from there. *)
Fixpoint hsd_paths (c : context) (paths : list (list token)) (v : context) (r : row) : program (option stop) :=
  match paths with
  | [] => Return (Some (v, r))
  | path :: paths =>
      match after_prefix v (c ++ path) with
      | Some (x :: suffix) =>
          bind (hsd_verify V (replaced v r) q (x :: suffix) v) (fun found =>
            match found with Some (w, r) => hsd_paths c paths w r | None => Return None end)
      | _ => hsd_paths c paths v r
      end
  end.

Definition hsd_multidraft (count depth : nat) (c : context) : program (option stop) :=
  bind (runs count (draw_chain q depth c)) (fun paths => hsd_paths c paths c (p c)).

End Multidraft.

(** ** The best-ranked of K paths (theory/verifiers/multipath_block.py) *)

Section Multipath.
Variable V : nat.
Variables p q : context -> row.
Variable K : nat.
Variable ranked : context -> list token.  (** the tokens that can be drafted, the best one last *)

Fixpoint power (a : N.num) (k : nat) : N.num := match k with 0 => N.one | S k => N.mul a (power a k) end.

Fixpoint before (x : token) (order : list token) : list token :=
  match order with [] => [] | y :: order => if y =? x then [] else y :: before x order end.

(** Of the words after [c], those that have the mass [J] and all that are ranked at or below them the mass [C]: what is
    ranked below their next token [x], and what at or below it. *)
Definition lo (c : context) (J C : N.num) (x : token) : N.num :=
  N.add (N.sub C J) (N.mul J (fold_right (fun y sum => N.add (q c y) sum) N.zero (before x (ranked c)))).
Definition hi (c : context) (J C : N.num) (x : token) : N.num := N.add (lo c J C x) (N.mul J (q c x)).

(** J and C after the tokens [u]. *)
Fixpoint standing (u : list token) (c : context) (J C : N.num) : N.num * N.num :=
  match u with [] => (J, C) | x :: u => standing u (c ++ [x]) (N.mul J (q c x)) (hi c J C x) end.

(** The law of the best path's next token. *)
Definition best_law (start : nat) (c : context) : row := fun x =>
  let '(J, C) := standing (skipn start c) (firstn start c) N.one N.one in
  N.div (N.sub (power (hi c J C x) K) (power (lo c J C x) K)) (N.sub (power C K) (power (N.sub C J) K)).

Fixpoint child_below (x : token) (siblings : children) : option children :=
  match siblings with
  | NoChild => None
  | Child y below rest => if y =? x then Some below else child_below x rest
  end.

Fixpoint best_child (order : list token) (siblings : children) (best : token * children) : token * children :=
  match order with
  | [] => best
  | x :: order =>
      best_child order siblings (match child_below x siblings with Some below => (x, below) | None => best end)
  end.

Fixpoint best_path (depth : nat) (siblings : children) (c : context) : list token :=
  match depth, siblings with
  | S less, Child first below _ =>
      let '(x, below) := best_child (ranked c) siblings (first, below) in x :: best_path less below (c ++ [x])
  | _, _ => []
  end.

Definition multipath_block (depth : nat) (c : context) : program (option stop) :=
  bind (draw_paths q K depth c) (fun siblings =>
    block_verify V p (best_law (length c)) (best_path depth siblings c) c).

End Multipath.

(** The tokens that can be drafted, smallest p/q first; of equal ones the smaller id last. *)
Definition by_share (V : nat) (p q : context -> row) (c : context) : list token :=
  fold_right (place (fun y x => N.less (N.div (p c y) (q c y)) (N.div (p c x) (q c x)))) []
    (filter (fun x => N.less N.zero (q c x)) (rev (vocabulary V))).

End Over.
