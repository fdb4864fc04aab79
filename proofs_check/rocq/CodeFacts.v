(** What the proofs about translated Python share: chains and trees as nodes, and rules that walk down a chain and
    back up from its end. *)

Require Import Reals Lra Lia List Arith Bool FunctionalExtensionality.
Require Import Programs Rules Python Numbers.
Import ListNotations RealPrograms.
Open Scope R_scope.

Lemma unsnoc_app : forall A (l : list A) x, unsnoc (l ++ [x]) = Some (l, x).
Proof. intros. unfold unsnoc. rewrite rev_unit, rev_involutive. auto. Qed.

Lemma last_of_app : forall A (l : list A) x, last_of (l ++ [x]) = Some x.
Proof. intros. unfold last_of. rewrite unsnoc_app. auto. Qed.

Lemma Accept_ext : forall A a (f g : bool -> program A), f true = g true -> f false = g false -> Accept a f = Accept a g.
Proof. intros. f_equal. extensionality b. destruct b; auto. Qed.

Lemma bind_bind : forall A B C (m : program A) (f : A -> program B) (g : B -> program C),
  bind (bind m f) g = bind m (fun a => bind (f a) g).
Proof.
  intros A B C m f g. induction m as [a|r rest IH|a rest IH]; simpl; auto; f_equal; extensionality x; auto.
Qed.

Lemma bind_return : forall A (m : program A), bind m Return = m.
Proof. intros A m. induction m as [a|r rest IH|a rest IH]; simpl; auto; f_equal; extensionality x; auto. Qed.

Section CodeFacts.
Variable V : nat.
Variables p q at_leaf : context -> row.
Notation node_at := (node_at q at_leaf).
Notation nodes := (nodes q at_leaf).

Definition chain_at (path : list token) (c : context) : Node := node_at (as_children path) c.

Lemma token_at : forall d c x, token_of (node_at d (c ++ [x])) = Some x.
Proof. intros. unfold token_of. simpl. apply last_of_app. Qed.

(** ** Trees *)

Definition drafted (replacement : bool) (d : children) (c : context) : Draft :=
  {| root_of := node_at d c; replacement_of := replacement |}.

Lemma size_positive : forall d, (1 <= size d)%nat.
Proof. induction d; simpl; lia. Qed.

Lemma nodes_child : forall x below rest c, nodes (Child x below rest) c = node_at below (c ++ [x]) :: nodes rest c.
Proof. reflexivity. Qed.

(** ** Chains *)

(** The nodes of a chain. *)
Fixpoint along (path : list token) (c : context) : list Node :=
  chain_at path c :: match path with [] => [] | x :: rest => along rest (c ++ [x]) end.

Lemma first_path_along : forall path c, first_path (chain_at path c) = along path c.
Proof.
  induction path as [|x rest IH]; intros c; [reflexivity|].
  cbn [along]. rewrite <- IH. reflexivity.
Qed.

Definition chained (path : list token) (c : context) : Draft := {| root_of := chain_at path c; replacement_of := false |}.

Definition shown (m : program (option Stop)) : program (option stop) := bind m (fun found => Return (stop_of found)).

Lemma last_along : forall path c n, last_of (n :: along path c) = last_of (along path c).
Proof.
  intros. assert (H : forall A (l : list A) a b, last_of (a :: b :: l) = last_of (b :: l)).
  { intros. unfold last_of, unsnoc. simpl. destruct (rev l ++ [b]) eqn:E; simpl; auto. destruct (rev l); discriminate. }
  destruct path; apply H.
Qed.

Lemma pairwise_along : forall x rest c,
  pairwise (along (x :: rest) c) = (chain_at (x :: rest) c, chain_at rest (c ++ [x])) :: pairwise (along rest (c ++ [x])).
Proof. intros. destruct rest; reflexivity. Qed.

Lemma pairwise_end : forall c, pairwise (along [] c) = [].
Proof. reflexivity. Qed.

(** ** Rules that walk down a chain, and back up from its end *)

Fixpoint inner (path : list token) (c : context) : list Node :=
  match path with [] => [] | x :: rest => chain_at path c :: inner rest (c ++ [x]) end.

Definition leaf (path : list token) (c : context) : Node := chain_at [] (c ++ path).

Lemma along_inner : forall path c, along path c = inner path c ++ [leaf path c].
Proof.
  induction path as [|x rest IH]; intros c; unfold leaf; cbn [along inner]; [rewrite app_nil_r; auto|].
  rewrite IH. unfold leaf. rewrite <- app_assoc. auto.
Qed.

Lemma combine_rev : forall A B (l : list A) (k : list B), length l = length k -> combine (rev l) (rev k) = rev (combine l k).
Proof.
  intros A B. assert (H : forall (l : list A) (k : list B) a b, length l = length k ->
    combine (l ++ [a]) (k ++ [b]) = combine l k ++ [(a, b)]).
  { induction l as [|a' l IH]; intros [|b' k] a b E; try discriminate; auto. simpl in *. rewrite IH; auto. }
  induction l as [|a l IH]; intros [|b k] E; try discriminate; auto. simpl in *. rewrite H, IH; auto.
  rewrite !rev_length. auto.
Qed.

(** An inner node with what belongs to it. *)
Definition inside {A} (item : Node * A) : Prop := proposal_of (fst item) = q (prefix_of (fst item)).

Lemma inside_inner : forall A path c (l : list A), Forall inside (rev (combine (inner path c) l)).
Proof.
  intros A path c l. apply Forall_rev. revert c l. induction path as [|x rest IH]; intros c [|a l]; simpl; auto.
  apply Forall_cons; [reflexivity|apply IH].
Qed.

(** The items of a loop over several lists. *)
Lemma combine_map : forall A B C (f : B -> C) (l : list A) (k : list B),
  combine l (map f k) = map (fun item => (fst item, f (snd item))) (combine l k).
Proof. intros A B C f. induction l as [|a l IH]; intros [|b k]; simpl; auto. rewrite IH. auto. Qed.

Section Walk.
Context {state : Type}.
Variable target : context -> row.
Variable next : state -> context -> token -> state.
Variable full : state -> R.
Variable coin : state -> context -> R.
Variable residual : state -> context -> row.

(** The states of the inner nodes, and that of the leaf. *)
Fixpoint states (path : list token) (c : context) (s : state) : list state :=
  match path with [] => [] | x :: rest => s :: states rest (c ++ [x]) (next s c x) end.

Fixpoint final (path : list token) (c : context) (s : state) : state :=
  match path with [] => s | x :: rest => final rest (c ++ [x]) (next s c x) end.

Lemma states_length : forall path c s, length (states path c s) = length (inner path c).
Proof. induction path; simpl; auto. Qed.

(** As Programs.v has such rules. *)
Fixpoint below (path : list token) (c : context) (s : state) : program (option stop) :=
  match path with
  | [] => Accept (full s) (fun accepted => Return (if accepted then Some (c, target c) else None))
  | x :: rest =>
      bind (below rest (c ++ [x]) (next s c x)) (fun found =>
        match found with
        | Some stop => Return (Some stop)
        | None => Accept (coin s c) (fun accepted => Return (if accepted then Some (c, normalise V (residual s c)) else None))
        end)
  end.

(** As the Python has them: from the last inner node up; [last] is the node before and its residual. *)
Fixpoint back (items : list (Node * state)) (last : option Node) (left : option row) : program (option Stop) :=
  match items with
  | [] => get last (fun node => get left (fun r => done (node, normalise V r)))
  | (node, s) :: items =>
      Accept (coin s (prefix_of node)) (fun accepted =>
        if accepted then done (node, normalise V (residual s (prefix_of node)))
        else back items (Some node) (Some (residual s (prefix_of node))))
  end.

Definition or_else (m : program (option stop)) (other : program (option stop)) : program (option stop) :=
  bind m (fun found => match found with Some s => Return (Some s) | None => other end).

Definition whole (path : list token) (c : context) (s : state) (items : list (Node * state)) last left :=
  Accept (full (final path c s)) (fun accepted =>
    if accepted then done (leaf path c, target (prefix_of (leaf path c)))
    else back (rev (items ++ combine (inner path c) (states path c s))) last left).

Lemma walk : forall path c s items last left,
  shown (whole path c s items last left) =
  or_else (below path c s) (shown (back (rev items)
    (match path with [] => last | _ => Some (chain_at path c) end)
    (match path with [] => left | _ => Some (residual s c) end))).
Proof.
  induction path as [|x rest IH]; intros c s items last left; unfold whole.
  - cbn [final states inner combine]. rewrite app_nil_r. unfold leaf. rewrite app_nil_r.
    apply Accept_ext; reflexivity.
  - specialize (IH (c ++ [x]) (next s c x) (items ++ [(chain_at (x :: rest) c, s)]) last left).
    unfold whole, leaf in IH. rewrite <- !app_assoc in IH. unfold leaf. cbn [final states inner combine].
    refine (eq_trans IH _). unfold or_else. cbn [below]. rewrite bind_bind. f_equal. extensionality found.
    destruct found as [s'|]; [reflexivity|]. rewrite rev_app_distr. cbn.
    apply Accept_ext; reflexivity.
Qed.

(** What is returned where even the root is not kept, which has probability zero. *)
Definition beyond (path : list token) (c : context) (s : state) : program (option stop) :=
  Return (match path with [] => None | _ => Some (c, normalise V (residual s c)) end).

Lemma walked : forall path c s last, (path = [] -> last = None) ->
  shown (whole path c s [] last None) = or_else (below path c s) (beyond path c s).
Proof. intros path c s last H. rewrite walk. destruct path; [rewrite H by auto|]; reflexivity. Qed.

End Walk.

End CodeFacts.
