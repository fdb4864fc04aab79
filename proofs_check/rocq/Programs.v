(** The algorithms of theory/, statement by statement, over any kind of number.

    A verifier is a program that asks an oracle to choose a token from a row or to accept with a
    probability.  What is proved about these definitions (over the real numbers) and what a test evaluates
    beside the Python (over the rationals) is one text: the functor [Over] below. *)

Require Import List Arith Bool.
Import ListNotations.

(** The operations that verifiers compute with. *)
Module Type NUMBER.
  Parameter Inline num : Type.
  Parameter Inline zero : num.
  Parameter Inline one : num.
  Parameter Inline add : num -> num -> num.
  Parameter Inline sub : num -> num -> num.
  Parameter Inline mul : num -> num -> num.
  Parameter Inline div : num -> num -> num.
  Parameter Inline less : num -> num -> bool.
End NUMBER.

Module Over (N : NUMBER).

Definition token := nat.
Definition context := list token.
Definition row := token -> N.num.

(** ** Programs over an oracle (theory/oracle.py) *)

Inductive program (A : Type) : Type :=
| Return (result : A)
| Choose (r : row) (rest : token -> program A)
| Accept (probability : N.num) (rest : bool -> program A).

Arguments Return {A}.
Arguments Choose {A}.
Arguments Accept {A}.

Fixpoint bind {A B} (m : program A) (f : A -> program B) : program B :=
  match m with
  | Return result => f result
  | Choose r rest => Choose r (fun x => bind (rest x) f)
  | Accept a rest => Accept a (fun b => bind (rest b) f)
  end.

Section Vocabulary.

(** Tokens are the numbers below [V]. *)
Variable V : nat.
Definition vocabulary : list token := seq 0 V.

(** ** Rows (theory/rows.py), each operation with the first line of its docstring there *)

(** total: The mass of the row. *)
Definition total (r : row) : N.num := fold_right (fun x sum => N.add (r x) sum) N.zero vocabulary.

(** share: min(1, part / whole), and 1 when the whole is 0. *)
Definition share (part whole : N.num) : N.num :=
  if N.less part whole then N.div part whole else N.one.

(** positive: The positive part (a)+. *)
Definition positive (a : N.num) : N.num := if N.less N.zero a then a else N.zero.

(** ratio: part / whole, uncapped; 1 when the whole is 0, which no drafted token meets. *)
Definition ratio (part whole : N.num) : N.num := if N.less N.zero whole then N.div part whole else N.one.

(** maximum: The larger of two numbers. *)
Definition maximum (a b : N.num) : N.num := if N.less a b then b else a.

(** excess: (p - q)+ token by token: where p has more mass than q. *)
Definition excess (p q : row) : row := fun x => positive (N.sub (p x) (q x)).

(** scale: factor * row. *)
Definition scale (factor : N.num) (p : row) : row := fun x => N.mul factor (p x).

(** normalise: The row divided by its mass; a row without mass stays as it is, and nothing draws from it. *)
Definition normalise (r : row) : row :=
  if N.less N.zero (total r) then fun x => N.div (r x) (total r) else r.

(** point: The row with all its mass on `token`, in the numbers of the row `like`. *)
Definition point (x : token) : row := fun y => if y =? x then N.one else N.zero.

(** without: The row conditioned on being none of the tokens: their entries emptied, the rest renormalised. *)
Definition without (r : row) (x : token) : row :=
  normalise (fun y => if y =? x then N.zero else r y).

(** [without], for several tokens. *)
Definition off (r : row) (tokens : list token) : row :=
  normalise (fun y => if existsb (Nat.eqb y) tokens then N.zero else r y).

(** ** The mean of a quantity over all branches of a program (simulators/laws/enumerate.py) *)

Fixpoint mean {A} (m : program A) (f : A -> N.num) : N.num :=
  match m with
  | Return result => f result
  | Choose r rest => total (fun x => N.mul (r x) (mean (rest x) f))
  | Accept a rest =>
      N.add (N.mul a (mean (rest true) f)) (N.mul (N.sub N.one a) (mean (rest false) f))
  end.

(** Every outcome with its probability; branches of probability zero are not entered. *)
Fixpoint outcomes {A} (weight : N.num) (m : program A) : list (A * N.num) :=
  match m with
  | Return result => [(result, weight)]
  | Choose r rest =>
      flat_map (fun x => if N.less N.zero (r x) then outcomes (N.mul weight (r x)) (rest x) else [])
               vocabulary
  | Accept a rest =>
      (if N.less N.zero a then outcomes (N.mul weight a) (rest true) else []) ++
      (if N.less a N.one then outcomes (N.mul weight (N.sub N.one a)) (rest false) else [])
  end.

(** ** Drafts (theory/drafts/tree.py, theory/drafts/chain.py) *)

Variables p q : context -> row.  (** target and proposal *)
Variable replacement : bool.

(** The children of a node, first child first: what was asked for, and what was drawn. *)
Inductive shape := NoShape | Shape (below rest : shape).
Inductive children := NoChild | Child (x : token) (below rest : children).

(** The proposal row of the siblings after [x]. *)
Definition after (q_c : row) (x : token) : row := if replacement then q_c else without q_c x.

(** Children are drawn in order, each with all that is below it, while the row has mass. *)
Fixpoint draw (s : shape) (c : context) (q_c : row) : program children :=
  match s with
  | NoShape => Return NoChild
  | Shape below rest =>
      if N.less N.zero (total q_c)
      then Choose q_c (fun x =>
             bind (draw below (c ++ [x]) (q (c ++ [x]))) (fun drawn_below =>
             bind (draw rest c (after q_c x)) (fun drawn_rest =>
             Return (Child x drawn_below drawn_rest))))
      else Return NoChild
  end.

Fixpoint count (s : shape) : nat := match s with NoShape => 0 | Shape _ rest => S (count rest) end.

Fixpoint tokens_of (d : children) : list token :=
  match d with NoChild => [] | Child x _ rest => x :: tokens_of rest end.

(** The greedy draft (theory/drafts/greedy.py): of [n] children one is sampled off the tokens that [top] names,
    which follow it; where the row has no mass off them, they are the children. *)
Section Greedy.
Variable top : context -> nat -> list token.

Definition top_and_sample (c : context) (n : nat) : program (list token) :=
  match n with
  | 0 => Return []
  | S fewer =>
      let r := off (q c) (top c fewer) in
      if N.less N.zero (total r) then Choose r (fun x => Return (x :: top c fewer)) else Return (top c fewer)
  end.

Fixpoint grow (s : shape) (c : context) (tokens : list token) : program children :=
  match s, tokens with
  | Shape below rest, x :: tokens =>
      bind (bind (top_and_sample (c ++ [x]) (count below)) (grow below (c ++ [x]))) (fun drawn_below =>
      bind (grow rest c tokens) (fun drawn_rest => Return (Child x drawn_below drawn_rest)))
  | _, _ => Return NoChild
  end.

Definition draw_greedy (s : shape) (c : context) : program children := bind (top_and_sample c (count s)) (grow s c).

End Greedy.

(** The token [x] among those that it is not [better] than. *)
Fixpoint place (better : token -> token -> bool) (x : token) (sorted : list token) : list token :=
  match sorted with
  | [] => [x]
  | y :: more => if better y x then y :: place better x more else x :: sorted
  end.

(** The [n] likeliest tokens, ties by id, none of probability zero. *)
Definition likeliest (r : row) (n : nat) : list token :=
  filter (fun x => N.less N.zero (r x))
    (firstn n (fold_right (place (fun y x => N.less (r x) (r y))) [] vocabulary)).

(** A chain is its list of tokens. *)
Fixpoint draw_chain (depth : nat) (c : context) : program (list token) :=
  match depth with
  | 0 => Return []
  | S less => Choose (q c) (fun x => bind (draw_chain less (c ++ [x])) (fun path => Return (x :: path)))
  end.

(** A chain that is drawn as far as [keep] says: whether it goes on is decided by the tokens before. *)
Variable keep : context -> bool.

Fixpoint draw_kept (depth : nat) (c : context) : program (list token) :=
  match depth with
  | 0 => Return []
  | S less =>
      if keep c
      then Choose (q c) (fun x => bind (draw_kept less (c ++ [x])) (fun path => Return (x :: path)))
      else Return []
  end.

(** The tokens of a chain that are kept. *)
Fixpoint kept (path : list token) (c : context) : list token :=
  match path with
  | [] => []
  | x :: rest => if keep c then x :: kept rest (c ++ [x]) else []
  end.

(** ** K paths, merged by prefix (theory/drafts/paths.py) *)

(** [count] independent runs. *)
Fixpoint runs {A} (count : nat) (m : program A) : program (list A) :=
  match count with
  | 0 => Return []
  | S fewer => bind m (fun a => bind (runs fewer m) (fun more => Return (a :: more)))
  end.

(** A path as a tree. *)
Fixpoint as_children (path : list token) : children :=
  match path with [] => NoChild | x :: rest => Child x (as_children rest) NoChild end.

(** The tree with one path more; a token that is new at its node becomes the last sibling. *)
Fixpoint insert (tree : children) (path : list token) : children :=
  match path, tree with
  | [], _ => tree
  | _, NoChild => as_children path
  | x :: more, Child y below rest =>
      if x =? y then Child y (insert below more) rest else Child y below (insert rest path)
  end.

Definition merged (paths : list (list token)) : children := fold_left insert paths NoChild.

Definition draw_paths (count depth : nat) (c : context) : program children :=
  bind (runs count (draw_chain depth c)) (fun paths => Return (merged paths)).

(** ** Verifiers: where verification stops, and the row that the extra token is drawn from *)

Definition stop := (context * row)%type.

(** theory/verifiers/token.py *)
Fixpoint token_verify (path : list token) (c : context) : program stop :=
  match path with
  | [] => Return (c, p c)
  | x :: rest =>
      Accept (share (p c x) (q c x)) (fun accepted =>
        if accepted then token_verify rest (c ++ [x])
        else Return (c, normalise (excess (p c) (q c))))
  end.

(** theory/verifiers/block.py: [w] is w_i at the context [c].  The call for the rest of the path is what the
    loop of the Python has asked before it comes to [c]. *)
Fixpoint block_below (path : list token) (c : context) (w : N.num) : program (option stop) :=
  match path with
  | [] => Accept w (fun accepted => Return (if accepted then Some (c, p c) else None))
  | x :: rest =>
      bind (block_below rest (c ++ [x]) (share (N.mul w (p c x)) (q c x))) (fun found =>
        match found with
        | Some stop => Return (Some stop)
        | None =>
            let residual := excess (scale w (p c)) (q c) in
            let A := total residual in
            Accept (share A (N.add A (N.sub N.one w))) (fun accepted =>
              Return (if accepted then Some (c, normalise residual) else None))
        end)
  end.

Definition block_verify (path : list token) (c : context) : program (option stop) :=
  block_below path c N.one.

(** theory/verifiers/hsd.py: [R] is the joint ratio at the context [c], [peak] the largest one so far. *)
Fixpoint hsd_below (path : list token) (c : context) (R peak : N.num) : program (option stop) :=
  let r := ratio R peak in
  match path with
  | [] => Accept r (fun accepted => Return (if accepted then Some (c, p c) else None))
  | x :: rest =>
      let next := N.mul R (ratio (p c x) (q c x)) in
      bind (hsd_below rest (c ++ [x]) next (maximum peak next)) (fun found =>
        match found with
        | Some stop => Return (Some stop)
        | None =>
            let want := scale r (p c) in
            let residual := excess want (q c) in
            Accept (share (total residual) (total (excess (q c) want))) (fun accepted =>
              Return (if accepted then Some (c, normalise residual) else None))
        end)
  end.

Definition hsd_verify (path : list token) (c : context) : program (option stop) := hsd_below path c N.one N.one.

(** theory/verifiers/greedy_block.py, for a [target] that may be modified: [P] and [Q] are the joint
    probabilities of the block's tokens down to [c] under the target and the proposal. *)
Fixpoint greedy_below (target : context -> row) (path : list token) (c : context) (P Q : N.num) : program (option stop) :=
  match path with
  | [] => Accept (share P Q) (fun accepted => Return (if accepted then Some (c, target c) else None))
  | x :: rest =>
      bind (greedy_below target rest (c ++ [x]) (N.mul P (target c x)) (N.mul Q (q c x))) (fun found =>
        match found with
        | Some stop => Return (Some stop)
        | None =>
            let want := scale P (target c) in
            let have := scale Q (q c) in
            let residual := excess want have in
            Accept (share (total residual) (total (excess have want))) (fun accepted =>
              Return (if accepted then Some (c, normalise residual) else None))
        end)
  end.

(** The joint probability of the tokens [u] after [c]. *)
Fixpoint joint (rows : context -> row) (u : list token) (c : context) : N.num :=
  match u with [] => N.one | x :: u => N.mul (rows c x) (joint rows u (c ++ [x])) end.

(** The target for the tokens that a stopped block still owes. *)
Definition modified (target : context -> row) (start stop : nat) : context -> row := fun c =>
  if (start <? length c) && (length c <? stop)
  then
    let P := joint target (skipn start c) (firstn start c) in
    let Q := joint q (skipn start c) (firstn start c) in
    normalise (excess (scale P (target c)) (scale Q (q c)))
  else target c.

(** The target of the next iteration after a block from [c] that stopped at [stopped]. *)
Definition carry (target : context -> row) (depth : nat) (c stopped : context) : context -> row :=
  if length stopped + 1 <? length c + depth
  then modified target (length c) (length c + depth)
  else target.

(** theory/verifiers/specinfer.py (with replacement) and rrs.py (without) *)
Fixpoint recursive_rejection (siblings : children) (c : context) (p_c q_c : row) : program stop :=
  match siblings with
  | NoChild => Return (c, p_c)
  | Child x below rest =>
      Accept (share (p_c x) (q_c x)) (fun accepted =>
        if accepted then recursive_rejection below (c ++ [x]) (p (c ++ [x])) (q (c ++ [x]))
        else recursive_rejection rest c (normalise (excess p_c q_c)) (after q_c x))
  end.

(** theory/verifiers/traversal.py: the subtree of [c], entered with rate [a]; None when all of it is rejected. *)
Fixpoint traverse (siblings : children) (c : context) (a : N.num) (p_c q_c : row) : program (option stop) :=
  match siblings with
  | NoChild => Accept a (fun accepted => Return (if accepted then Some (c, p_c) else None))
  | Child x below rest =>
      bind (traverse below (c ++ [x]) (share (N.mul a (p_c x)) (q_c x)) (p (c ++ [x])) (q (c ++ [x])))
        (fun found =>
          match found with
          | Some stop => Return (Some stop)
          | None =>
              let residual := excess (scale a p_c) q_c in
              let S := total residual in
              traverse rest c (share S (N.add S (N.sub N.one a))) (normalise residual) (after q_c x)
          end)
  end.

(** The token [y] came out of [c]: the stop if it was not drafted, or [node] at the first drafted copy, which is told
    what to do with the token that comes out there. *)
Fixpoint descend (node : children -> context -> (token -> program stop) -> program stop)
    (siblings : children) (c : context) (y : token) : program stop :=
  match siblings with
  | NoChild => Return (c, point y)
  | Child x below rest =>
      if x =? y then node below (c ++ [y]) (descend node below (c ++ [y])) else descend node rest c y
  end.

(** theory/verifiers/nss.py *)
Definition nss_node (siblings : children) (c : context) (go : token -> program stop) : program stop :=
  match siblings with
  | NoChild => Return (c, p c)
  | Child _ _ _ => Choose (p c) go
  end.

Definition nss (siblings : children) (c : context) : program stop :=
  nss_node siblings c (descend nss_node siblings c).

(** theory/verifiers/naive_tree.py *)
Definition naive_node (siblings : children) (c : context) (go : token -> program stop) : program stop :=
  match siblings with
  | NoChild => Return (c, p c)
  | Child x _ _ =>
      Accept (share (p c x) (q c x)) (fun accepted =>
        if accepted then go x else Choose (normalise (excess (p c) (q c))) go)
  end.

Definition naive_tree (siblings : children) (c : context) : program stop :=
  naive_node siblings c (descend naive_node siblings c).

(** A single-step rule says which token comes out of a node, given the drawn children. *)
Section Rule.
Variable rule : context -> list token -> program token.

Definition rule_node (siblings : children) (c : context) (go : token -> program stop) : program stop :=
  match siblings with
  | NoChild => Return (c, p c)
  | Child _ _ _ => bind (rule c (tokens_of siblings)) go
  end.

Definition node_by_node (siblings : children) (c : context) : program stop :=
  rule_node siblings c (descend rule_node siblings c).

End Rule.

(** The token [x], drawn from [d], is judged as a single draft. *)
Definition judged_once (c : context) (d : row) (x : token) : program token :=
  Accept (share (p c x) (d x)) (fun accepted =>
    if accepted then Return x else Choose (normalise (excess (p c) d)) Return).

(** theory/verifiers/hu_greedy.py *)
Definition hu_rule (c : context) (tokens : list token) : program token :=
  match tokens with
  | [] => Choose (p c) Return
  | x :: top => judged_once c (off (q c) top) x
  end.

Definition hu_greedy : children -> context -> program stop := node_by_node hu_rule.

(** theory/verifiers/khisti.py and global_resolution.py: one of the drawn tokens is selected by [weights], and
    judged with the law [d] that a selected token has when so many are drawn. *)
Definition selected_rule (weights : context -> list token -> row) (d : context -> nat -> row)
    (c : context) (tokens : list token) : program token :=
  Choose (weights c tokens) (judged_once c (d c (length tokens))).

(** theory/verifiers/one_hot.py *)
Fixpoint one_hot (siblings : children) (c : context) (p_c : row) : program stop :=
  match siblings with
  | NoChild => Return (c, p_c)
  | Child x below rest =>
      Accept (p_c x) (fun accepted =>
        if accepted then one_hot below (c ++ [x]) (p (c ++ [x])) else one_hot rest c (without p_c x))
  end.

(** One iteration: draw, then verify. *)
Definition token_iteration (depth : nat) (c : context) : program stop :=
  bind (draw_chain depth c) (fun path => token_verify path c).

Definition block_iteration (depth : nat) (c : context) : program (option stop) :=
  bind (draw_chain depth c) (fun path => block_verify path c).

Definition hsd_iteration (depth : nat) (c : context) : program (option stop) :=
  bind (draw_chain depth c) (fun path => hsd_verify path c).

Definition recursive_rejection_iteration (draft : program children) (c : context) : program stop :=
  bind draft (fun siblings => recursive_rejection siblings c (p c) (q c)).

Definition traversal_iteration (draft : program children) (c : context) : program (option stop) :=
  bind draft (fun siblings => traverse siblings c N.one (p c) (q c)).

Definition greedy_iteration (target : context -> row) (depth : nat) (c : context) : program (option stop) :=
  bind (draw_chain depth c) (fun path => greedy_below target path c N.one N.one).

(** The text after several iterations of greedy block verification, each with the target that is carried to it. *)
Fixpoint greedy_text (iterations depth : nat) (target : context -> row) (c : context) : program context :=
  match iterations with
  | 0 => Return c
  | S fewer =>
      bind (greedy_iteration target depth c) (fun found =>
        match found with
        | Some (d, r) => Choose r (fun y => greedy_text fewer depth (carry target depth c d) (d ++ [y]))
        | None => Return c
        end)
  end.

(** ** Any number of calls (simulators/laws/decode.py) *)

(** The text after one iteration from [c]. *)
Definition ends (c : context) (iteration : program (option stop)) : program context :=
  bind iteration (fun found =>
    match found with Some (d, r) => Choose r (fun y => Return (d ++ [y])) | None => Return c end).

Section Calls.
Context {state : Type}.
Variable call : state -> context -> program (state * context).  (** from a state and a text to the next ones *)

Fixpoint calls (n : nat) (s : state) (c : context) : program context :=
  match n with
  | 0 => Return c
  | S fewer => bind (call s c) (fun '(s, c) => calls fewer s c)
  end.

(** Calls until the text has [wanted] tokens, cut there. *)
Fixpoint generate (most wanted : nat) (s : state) (c : context) : program context :=
  if wanted <=? length c then Return (firstn wanted c)
  else
    match most with
    | 0 => Return c
    | S fewer => bind (call s c) (fun '(s, c) => generate fewer wanted s c)
    end.

End Calls.

(** A call that keeps nothing but the text. *)
Definition stateless (rule : context -> program (option stop)) (s : unit) (c : context) : program (unit * context) :=
  bind (ends c (rule c)) (fun d => Return (s, d)).

(** The law of the emitted block: words with their masses, one for each stop and extra token. *)
Definition law (iteration : program (option stop)) : list (context * N.num) :=
  flat_map (fun '(found, weight) =>
    match found with
    | Some (c, r) => map (fun y => (c ++ [y], N.mul weight (r y))) vocabulary
    | None => []
    end) (outcomes N.one iteration).

Definition always_stops (iteration : program stop) : program (option stop) :=
  bind iteration (fun s => Return (Some s)).

End Vocabulary.
End Over.
