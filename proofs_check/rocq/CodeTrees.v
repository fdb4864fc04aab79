(** Recursive rejection and Traversal Verification as Code.v has them from the Python: each is the program of
    Programs.v, of which the theorems are proved.  Loops and calls end within as many rounds as the draft has nodes. *)

Require Import Reals Lra Lia List Arith Bool FunctionalExtensionality.
Require Import Programs Rules Python Numbers Code CodeFacts.
Import ListNotations RealPrograms.

Section CodeTrees.
Variable V : nat.
Variables p q at_leaf : context -> row.
Notation node_at := (node_at q at_leaf).
Notation nodes := (nodes q at_leaf).
Notation drafted := (drafted q at_leaf).

Theorem specinfer_code : forall replacement fuel d c, (size d <= fuel)%nat ->
  shown (specinfer.verify V fuel (drafted replacement d c) p) =
  always_stops (recursive_rejection V p q true d c (p c) (q c)).
Proof.
  intros replacement fuel d c. unfold specinfer.verify, CodeFacts.drafted, RealPrograms.node_at. cbn [root_of prefix_of].
  match goal with |- _ -> shown (?loop _ _ _) = _ => set (L := loop) end. fold (node_at d c).
  generalize (p c) as p_c. revert d c.
  induction fuel as [|fuel IH]; intros d c p_c F; [pose proof (size_positive d); lia|].
  destruct d as [|x b r]; [reflexivity|].
  unfold L, node_at.
  cbn -[RealPrograms.nodes recursive_rejection share excess RealPrograms.normalise token_of].
  change (nonempty (nodes (Child x b r) c)) with true. cbn iota.
  match goal with |- shown (?each _ ?n _) = _ => set (E := fun items => each items n) end.
  assert (H : forall d, (size d <= S fuel)%nat -> forall p_c, shown (E (nodes d c) p_c) =
    always_stops (recursive_rejection V p q true d c p_c (q c))); [|apply H; auto].
  induction d as [|y below _ rest IHr]; intros G p_d; [reflexivity|]. rewrite nodes_child.
  unfold E. rewrite token_at. cbn [get]. apply Accept_ext.
  - apply IH. simpl in G. pose proof (size_positive rest). lia.
  - apply IHr. simpl in G. lia.
Qed.

Theorem rrs_code : forall replacement fuel d c, (size d <= fuel)%nat ->
  shown (rrs.verify V fuel (drafted replacement d c) p) =
  always_stops (recursive_rejection V p q false d c (p c) (q c)).
Proof.
  intros replacement fuel d c. unfold rrs.verify, CodeFacts.drafted, RealPrograms.node_at. cbn [root_of prefix_of].
  match goal with |- _ -> shown (?loop _ _ _) = _ => set (L := loop) end. fold (node_at d c).
  generalize (p c) as p_c. revert d c.
  induction fuel as [|fuel IH]; intros d c p_c F; [pose proof (size_positive d); lia|].
  destruct d as [|x b r]; [reflexivity|].
  unfold L, node_at.
  cbn -[RealPrograms.nodes recursive_rejection share excess RealPrograms.normalise token_of without].
  change (nonempty (nodes (Child x b r) c)) with true. cbn iota.
  match goal with |- shown (?each _ ?n _ _) = _ => set (E := fun items => each items n) end.
  assert (H : forall d, (size d <= S fuel)%nat -> forall p_c q_c, shown (E (nodes d c) p_c q_c) =
    always_stops (recursive_rejection V p q false d c p_c q_c)); [|apply H; auto].
  induction d as [|y below _ rest IHr]; intros G p_d q_d; [reflexivity|]. rewrite nodes_child.
  unfold E. rewrite token_at. cbn [get]. apply Accept_ext.
  - apply IH. simpl in G. pose proof (size_positive rest). lia.
  - apply IHr. simpl in G. lia.
Qed.

(** What a subtree gives: nothing where it is rejected. *)
Definition view (found : option (option Stop)) : option (option stop) := option_map stop_of found.

Theorem traverse_code : forall replacement draft fuel d c a, (size d <= fuel)%nat -> replacement_of draft = replacement ->
  bind (traversal.traverse V fuel draft (node_at d c) a p) (fun found => Return (view found)) =
  bind (traverse V p q replacement d c a (p c) (q c)) (fun found => Return (Some found)).
Proof.
  intros replacement draft. induction fuel as [|fuel IH]; intros d c a F W; [pose proof (size_positive d); lia|].
  unfold node_at. cbn -[RealPrograms.nodes share excess RealPrograms.normalise token_of without traverse].
  rewrite W. match goal with |- bind (?each _ _ _ _) _ = _ => set (E := each) end.
  assert (H : forall d, (size d <= S fuel)%nat -> forall a p_c q_c,
    bind (E (nodes d c) a p_c q_c) (fun found => Return (view found)) =
    bind (traverse V p q replacement d c a p_c q_c) (fun found => Return (Some found))).
  2: { destruct d; apply (H _ F a (p c) (q c)). }
  induction d0 as [|x below _ rest IHr]; intros G a' p_c q_c.
  - apply Accept_ext; reflexivity.
  - rewrite nodes_child. unfold E. rewrite token_at. cbn [get]. unfold call. rewrite bind_bind. cbn [traverse].
    simpl in G. pose proof (size_positive rest).
    assert (B : (size below <= fuel)%nat) by lia. specialize (IH below (c ++ [x]) (share (a' * p_c x) (q_c x)) B W).
    set (K := fun found : option (option stop) => match found with
      | Some (Some s) => Return (Some (Some s))
      | Some None => bind (E (nodes rest c) (share (total V (excess (scale a' p_c) q_c))
            (total V (excess (scale a' p_c) q_c) + (1 - a'))) (normalise V (excess (scale a' p_c) q_c)) (after V replacement q_c x))
          (fun found => Return (view found))
      | None => Return None end).
    transitivity (bind (bind (traversal.traverse V fuel draft (node_at below (c ++ [x])) (share (a' * p_c x) (q_c x)) p)
      (fun found => Return (view found))) K).
    + rewrite bind_bind. f_equal. extensionality found. destruct found as [[[n r]|]|]; try reflexivity.
      unfold get, K, view, option_map, after. destruct replacement; reflexivity.
    + rewrite IH, !bind_bind. f_equal. extensionality found. destruct found as [s|]; [reflexivity|].
      cbn [bind]. unfold K. apply IHr. lia.
Qed.

Theorem traversal_code : forall replacement fuel d c, (size d <= fuel)%nat ->
  shown (traversal.verify V fuel (drafted replacement d c) p) = traverse V p q replacement d c 1 (p c) (q c).
Proof.
  intros replacement fuel d c F. unfold traversal.verify, shown, call. rewrite bind_bind.
  pose proof (traverse_code replacement (drafted replacement d c) fuel d c 1 F eq_refl) as H.
  set (K := fun found : option (option stop) => @Return (option stop) match found with Some (Some s) => Some s | _ => None end).
  transitivity (bind (bind (traverse V p q replacement d c 1 (p c) (q c)) (fun found => Return (Some found))) K).
  - rewrite <- H, bind_bind. f_equal. extensionality found. destruct found as [[[n r]|]|]; reflexivity.
  - rewrite bind_bind. transitivity (bind (traverse V p q replacement d c 1 (p c) (q c)) Return).
    + f_equal. extensionality found. destruct found; reflexivity.
    + apply bind_return.
Qed.

End CodeTrees.
