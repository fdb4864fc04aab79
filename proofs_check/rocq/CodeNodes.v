(** Rules that decide node by node which token comes out, as Code.v has them from the Python: each is the program of
    Programs.v, of which the theorems are proved. *)

Require Import Reals Lra Lia List Arith Bool FunctionalExtensionality.
Require Import Programs Rules Python Numbers Code CodeFacts.
Import ListNotations RealPrograms.

Section CodeNodes.
Variable V : nat.
Variables p q at_leaf : context -> row.
Notation node_at := (node_at q at_leaf).
Notation nodes := (nodes q at_leaf).
Notation drafted := (drafted q at_leaf).

Theorem one_hot_code : forall replacement fuel d c, (size d <= fuel)%nat ->
  shown (one_hot.verify V fuel (drafted replacement d c) p) = always_stops (one_hot V p d c (p c)).
Proof.
  intros replacement fuel d c. unfold one_hot.verify, CodeFacts.drafted, RealPrograms.node_at. cbn [root_of prefix_of].
  match goal with |- _ -> shown (?loop _ _ _) = _ => set (L := loop) end. fold (node_at d c).
  generalize (p c) as p_c. revert d c.
  induction fuel as [|fuel IH]; intros d c p_c F; [pose proof (size_positive d); lia|].
  destruct d as [|x b r]; [reflexivity|].
  unfold L, RealPrograms.node_at. cbn -[RealPrograms.nodes one_hot token_of without].
  change (nonempty (nodes (Child x b r) c)) with true. cbn iota.
  match goal with |- shown (?each _ ?n _) = _ => set (E := fun items => each items n) end.
  assert (H : forall d, (size d <= S fuel)%nat -> forall p_c, shown (E (nodes d c) p_c) =
    always_stops (one_hot V p d c p_c)); [|apply H; auto].
  induction d as [|y below _ rest IHr]; intros G p_d; [reflexivity|]. rewrite nodes_child.
  unfold E. rewrite token_at. cbn [get]. apply Accept_ext.
  - apply IH. simpl in G. pose proof (size_positive rest). lia.
  - apply IHr. simpl in G. lia.
Qed.

(** A rule tells [descend] which token came out of a node: the first child with it, if there is one. *)
Section Descend.
Variable node : children -> context -> (token -> program stop) -> program stop.
Variable enter : Node -> program (option Stop).
Variable n : Node.

Lemma descend_code : forall d r y,
  (forall x below, (size below < size d)%nat -> shown (enter (node_at below (prefix_of n ++ [x]))) =
    always_stops (node below (prefix_of n ++ [x]) (descend node below (prefix_of n ++ [x])))) ->
  shown (match find (has_token y) (nodes d (prefix_of n)) with
         | Some child => enter child
         | None => done (n, point_like y r)
         end) = always_stops (descend node d (prefix_of n) y).
Proof.
  induction d as [|x below _ rest IH]; intros r y H; [reflexivity|]. rewrite nodes_child. cbn [find].
  unfold has_token at 1. rewrite token_at. cbn [descend]. destruct (Nat.eqb_spec x y) as [->|D].
  - apply H. simpl. pose proof (size_positive rest). lia.
  - apply IH. intros z b B. apply H. simpl. lia.
Qed.

End Descend.

Theorem nss_code : forall replacement fuel d c, (size d <= fuel)%nat ->
  shown (nss.verify V fuel (drafted replacement d c) p) = always_stops (nss p d c).
Proof.
  intros replacement fuel d c. unfold nss.verify, CodeFacts.drafted. cbn [root_of].
  match goal with |- _ -> shown (?loop _ _) = _ => set (L := loop) end. revert d c.
  induction fuel as [|fuel IH]; intros d c F; [pose proof (size_positive d); lia|].
  destruct d as [|x b r]; [reflexivity|].
  unfold L, RealPrograms.node_at. cbn -[RealPrograms.nodes descend has_token find].
  change (nonempty (nodes (Child x b r) c)) with true. cbn iota.
  cbn -[RealPrograms.nodes descend has_token find]. f_equal. extensionality y.
  apply (descend_code (nss_node p) (L fuel) (MakeNode c (q c) (nodes (Child x b r) c))).
  intros z below B. apply IH. simpl in *. lia.
Qed.

Theorem naive_tree_code : forall replacement fuel d c, (size d <= fuel)%nat ->
  shown (naive_tree.verify V fuel (drafted replacement d c) p) = always_stops (naive_tree V p q d c).
Proof.
  intros replacement fuel d c. unfold naive_tree.verify, CodeFacts.drafted. cbn [root_of].
  match goal with |- _ -> shown (?loop _ _) = _ => set (L := loop) end. revert d c.
  induction fuel as [|fuel IH]; intros d c F; [pose proof (size_positive d); lia|].
  destruct d as [|x b r]; [reflexivity|].
  assert (K : forall y row, shown (match find (has_token y) (nodes (Child x b r) c) with
      | Some child => L fuel child
      | None => done (MakeNode c (q c) (nodes (Child x b r) c), point_like y row) end) =
    always_stops (descend (naive_node V p q) (Child x b r) c y)).
  { intros y row. apply (descend_code (naive_node V p q) (L fuel) (MakeNode c (q c) (nodes (Child x b r) c))).
    intros z below B. apply IH. simpl in *. lia. }
  unfold L, RealPrograms.node_at. cbn -[RealPrograms.nodes descend has_token find share excess RealPrograms.normalise token_of].
  change (nonempty (nodes (Child x b r) c)) with true. cbn iota. rewrite nodes_child. cbn [hd_error get].
  rewrite token_at. cbn [get]. rewrite <- nodes_child. apply Accept_ext.
  - apply K.
  - cbn -[RealPrograms.nodes descend has_token find excess RealPrograms.normalise]. f_equal. extensionality y. apply K.
Qed.

Lemma tokens_in_nodes : forall d c, tokens_in (nodes d c) = Some (tokens_of d).
Proof. induction d as [|x below _ rest IH]; intros c; [reflexivity|]. rewrite nodes_child. cbn [tokens_in]. rewrite token_at, IH. auto. Qed.

Theorem hu_greedy_code : forall replacement fuel d c, (size d <= fuel)%nat ->
  shown (hu_greedy.verify V fuel (drafted replacement d c) p) = always_stops (hu_greedy V p q d c).
Proof.
  intros replacement fuel d c. unfold hu_greedy.verify, CodeFacts.drafted. cbn [root_of].
  match goal with |- _ -> shown (?loop _ _) = _ => set (L := loop) end. revert d c.
  induction fuel as [|fuel IH]; intros d c F; [pose proof (size_positive d); lia|].
  destruct d as [|x b r]; [reflexivity|].
  assert (K : forall y row, shown (match find (has_token y) (nodes (Child x b r) c) with
      | Some child => L fuel child
      | None => done (MakeNode c (q c) (nodes (Child x b r) c), point_like y row) end) =
    always_stops (descend (rule_node p (hu_rule V p q)) (Child x b r) c y)).
  { intros y row. apply (descend_code (rule_node p (hu_rule V p q)) (L fuel) (MakeNode c (q c) (nodes (Child x b r) c))).
    intros z below B. apply IH. simpl in *. lia. }
  unfold L, RealPrograms.node_at.
  cbn -[RealPrograms.nodes descend has_token find share excess RealPrograms.normalise tokens_in off tokens_of hu_greedy].
  change (nonempty (nodes (Child x b r) c)) with true. cbn iota. rewrite tokens_in_nodes. cbn [tokens_of get uncons].
  apply Accept_ext.
  - apply K.
  - cbn -[RealPrograms.nodes descend has_token find excess RealPrograms.normalise off]. f_equal. extensionality y. apply K.
Qed.

End CodeNodes.
