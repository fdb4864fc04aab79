(** HSD over paths drawn independently (zhou2026hsd, Algorithm 3, the ratio restarted after a stop) is lossless.

    Given where the paths so far stopped, at [v] with the row [r], the next path is as if it were just drawn.  If it goes
    on below [v], its suffix is a block of HSD for the target with [r] at [v]; what is emitted follows [r], then p. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Numbers Means Lossless Traversal Chains Paths Hsd.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Multidraft.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).

Lemma after_itself : forall d e, after_prefix d (d ++ e) = Some e.
Proof. induction d as [|x d IH]; intros e; simpl; auto. rewrite Nat.eqb_refl. apply IH. Qed.

Lemma after_common : forall c d e, after_prefix (c ++ d) (c ++ e) = after_prefix d e.
Proof. induction c as [|x c IH]; intros d e; simpl; auto. rewrite Nat.eqb_refl. apply IH. Qed.

Lemma after_is : forall d c e, after_prefix d c = Some e -> c = d ++ e.
Proof.
  induction d as [|x d IH]; intros [|y c] e H; simpl in *; try congruence.
  destruct (Nat.eqb_spec x y) as [->|]; [|discriminate]. rewrite (IH c e H). auto.
Qed.

(** A context with one token more begins with [d] and more only if the context begins with [d]. *)
Lemma after_more : forall d c y, match after_prefix d c with
  | Some e => after_prefix d (c ++ [y]) = Some (e ++ [y])
  | None => after_prefix d (c ++ [y]) = None \/ after_prefix d (c ++ [y]) = Some []
  end.
Proof.
  intros d c. revert d. induction c as [|z c IH]; intros [|x d] y; simpl; auto.
  - destruct (x =? y)%nat; auto. destruct d; simpl; auto.
  - destruct (x =? z)%nat; auto. apply IH.
Qed.

Section Stopped.
Variable G : context -> R.
Hypothesis HG : harmonic V p G.
Variable v : context.
Variable r : row.
Hypothesis r_row : is_row V r.

Definition value : R := total (fun y => r y * G (v ++ [y])).
Notation target := (replaced p v r).

(** Below [v] the quantity, elsewhere what it is worth at [v]. *)
Definition quantity (c : context) : R := match after_prefix v c with Some (_ :: _) => G c | _ => value end.

Lemma replaced_rows : forall c, is_row V (target c).
Proof. intros c. unfold replaced. destruct (after_prefix v c) as [[|]|]; auto. Qed.

Lemma quantity_below : forall e y, quantity ((v ++ e) ++ [y]) = G ((v ++ e) ++ [y]).
Proof. intros e y. unfold quantity. rewrite <- app_assoc, after_itself. destruct e; auto. Qed.

Lemma quantity_harmonic : harmonic V target quantity.
Proof.
  intros c. pose proof (after_is v c) as I. pose proof (after_more v c) as M. unfold quantity at 1, replaced.
  destruct (after_prefix v c) as [[|x e]|] eqn:A.
  - specialize (I [] eq_refl). rewrite app_nil_r in I. subst c. apply total_ext. intros y. unfold quantity. rewrite (M y). auto.
  - rewrite (HG c). apply total_ext. intros y. unfold quantity. rewrite (M y). auto.
  - rewrite <- (Rmult_1_r value), <- (proj2 (p_rows c)), <- total_mul. apply total_ext. intros y. unfold quantity.
    destruct (M y) as [-> | ->]; ring.
Qed.

(** A block of HSD from [v]. *)
Lemma block_from_stop : forall depth, mean (hsd_iteration V target q depth v) (emitted_if V G) = value.
Proof.
  intros depth. destruct (hsd_lossless V target q replaced_rows q_rows depth v) as [L _].
  specialize (L quantity quantity_harmonic).
  assert (Q : quantity v = value) by (unfold quantity; pose proof (after_itself v []) as A; rewrite app_nil_r in A; rewrite A; auto).
  rewrite <- Q, <- L.
  apply (mean_ext_proper V _ _ _ _ _ (hsd_proper V target q replaced_rows q_rows depth v)).
  intros [[w s]|] S; [|reflexivity]. destruct S as [[e E] _]. simpl in *. subst w.
  apply total_ext. intros y. rewrite quantity_below. auto.
Qed.

End Stopped.

(** Verification of one path more. *)
Definition one_path (c : context) (path : list token) (v : context) (r : row) : program (option stop) :=
  match after_prefix v (c ++ path) with
  | Some (x :: suffix) => hsd_verify V (replaced p v r) q (x :: suffix) v
  | _ => Return (Some (v, r))
  end.

Lemma one_path_follows : forall G, harmonic V p G -> forall d c depth r, is_row V r ->
  mean (draw_chain q depth c) (fun path => mean (one_path c path (c ++ d) r) (emitted_if V G)) =
  value G (c ++ d) r.
Proof.
  intros G HG d c depth r R.
  assert (E : forall d depth c v, v = c ++ d ->
    mean (draw_chain q depth c) (fun path => match after_prefix d path with
      | Some (x :: suffix) => mean (hsd_verify V (replaced p v r) q (x :: suffix) v) (emitted_if V G)
      | _ => value G v r end) = value G v r).
  { clear - HG R p_rows q_rows. induction d as [|x d IH]; intros depth c v ->.
    - rewrite app_nil_r. pose proof (block_from_stop G HG c r R depth) as B. unfold hsd_iteration in B. rewrite mean_bind in B.
      etransitivity; [|exact B]. apply (mean_ext_proper V _ _ _ _ _ (path_possible V q q_rows true depth c)).
      intros [|x path] _; [|reflexivity]. cbn [after_prefix]. unfold hsd_verify. simpl.
      assert (U : RealPrograms.ratio 1 1 = 1) by (rewrite ratio_positive by lra; field). rewrite U.
      unfold replaced. pose proof (after_itself c []) as A. rewrite app_nil_r in A. rewrite A. unfold value. ring.
    - destruct depth as [|depth]; [reflexivity|]. simpl draw_chain. simpl. set (v := c ++ x :: d).
      rewrite (total_ext V _ (fun y => q c y * value G v r)); [rewrite total_mul_right, (proj2 (q_rows c)); ring|].
      intros y. f_equal. rewrite mean_bind. simpl. destruct (Nat.eqb_spec x y) as [<-|N].
      + apply IH. unfold v. rewrite <- app_assoc. auto.
      + apply (mean_const V _ _ _ _ (path_possible V q q_rows true depth (c ++ [y]))). }
  etransitivity; [|exact (E d depth c (c ++ d) eq_refl)]. apply mean_ext. intros path. unfold one_path. rewrite after_common.
  destruct (after_prefix d path) as [[|x suffix]|]; reflexivity.
Qed.

Lemma suffix_possible : forall d path c suffix, possible V q true (as_children path) c (q c) ->
  after_prefix d path = Some suffix -> possible V q true (as_children suffix) (c ++ d) (q (c ++ d)).
Proof.
  induction d as [|x d IH]; intros path c suffix H A.
  - injection A as <-. rewrite app_nil_r. auto.
  - destruct path as [|y path]; simpl in A; [discriminate|]. destruct (Nat.eqb_spec x y) as [->|]; [|discriminate].
    destruct H as [_ [_ [H _]]]. pose proof (IH path (c ++ [y]) suffix H A) as S. rewrite <- app_assoc in S. auto.
Qed.

Lemma one_path_stops : forall c path d r, possible V q true (as_children path) c (q c) -> is_row V r ->
  proper V (one_path c path (c ++ d) r)
    (fun found => match found with Some s => stops_below V (c ++ d) s | None => False end).
Proof.
  intros c path d r H R. unfold one_path. rewrite after_common.
  assert (Stay : stops_below V (c ++ d) (c ++ d, r)) by (split; [exists []; rewrite app_nil_r|]; auto).
  destruct (after_prefix d path) as [[|x suffix]|] eqn:A; auto. unfold hsd_verify.
  apply (proper_weaken V _ _ _ _ (hsd_path_proper V (replaced p (c ++ d) r) q (replaced_rows (c ++ d) r R) q_rows
    (x :: suffix) (c ++ d) 1 1 (suffix_possible d path c _ H A) (conj Rle_0_1 (Rle_refl 1)) Rlt_0_1)).
  intros [s|] F; auto. rewrite ratio_positive in F by lra. replace (1 / 1) with 1 in F by field. lra.
Qed.

Lemma paths_step : forall c path paths v r f, f None = 0 -> mean (hsd_paths V p q c (path :: paths) v r) f =
  mean (one_path c path v r) (fun found =>
    match found with Some (w, r) => mean (hsd_paths V p q c paths w r) f | None => 0 end).
Proof.
  intros c path paths v r f Z. unfold one_path. cbn [hsd_paths]. destruct (after_prefix v (c ++ path)) as [[|x suffix]|]; auto.
  rewrite mean_bind. apply mean_ext. intros [[w s]|]; simpl; auto.
Qed.

Lemma paths_keep : forall (F : stop -> R) depth c,
  (forall d r, is_row V r -> mean (draw_chain q depth c) (fun path => mean (one_path c path (c ++ d) r)
    (fun found => match found with Some s => F s | None => 0 end)) = F (c ++ d, r)) ->
  forall n d r, is_row V r -> mean (runs n (draw_chain q depth c)) (fun paths =>
    mean (hsd_paths V p q c paths (c ++ d) r) (fun found => match found with Some s => F s | None => 0 end)) = F (c ++ d, r).
Proof.
  intros F depth c One. set (f := fun found => match found with Some s => F s | None => 0 end).
  induction n as [|n IH]; intros d r R; [reflexivity|]. cbn [runs]. rewrite mean_bind, <- (One d r R).
  apply (mean_ext_proper V _ _ _ _ _ (path_possible V q q_rows true depth c)). intros path H.
  rewrite mean_bind. rewrite (mean_ext V _ _ _ (fun paths => mean (one_path c path (c ++ d) r) (fun found =>
    match found with Some (w, r) => mean (hsd_paths V p q c paths w r) f | None => 0 end)))
    by (intros paths; apply (paths_step c path paths (c ++ d) r f eq_refl)).
  rewrite mean_swap. apply (mean_ext_proper V _ _ _ _ _ (one_path_stops c path d r H R)).
  intros [[w s]|] S; [|contradiction]. destruct S as [[e E] L]. simpl in *. subst w. rewrite <- app_assoc. apply IH. auto.
Qed.

Lemma paths_stop : forall c paths d r, Forall (fun path => possible V q true (as_children path) c (q c)) paths -> is_row V r ->
  proper V (hsd_paths V p q c paths (c ++ d) r)
    (fun found => match found with Some s => stops_below V c s | None => False end).
Proof.
  intros c. induction paths as [|path paths IH]; intros d r A R; [split; [exists d|]; auto|].
  inversion A as [|? ? H A']; subst. pose proof (one_path_stops c path d r H R) as S. unfold one_path in S. cbn [hsd_paths].
  destruct (after_prefix (c ++ d) (c ++ path)) as [[|x suffix]|]; auto.
  apply (proper_bind V _ _ _ _ _ _ S). intros [[w s]|] F; [|contradiction]. destruct F as [[e E] L]. simpl in *. subst w.
  rewrite <- app_assoc. apply IH; auto.
Qed.

Theorem hsd_multidraft_proper : forall count depth c, proper V (hsd_multidraft V p q count depth c)
  (fun found => match found with Some s => stops_below V c s | None => False end).
Proof.
  intros count depth c.
  apply (proper_bind V _ _ _ _ _ _ (runs_proper V _ _ _ count (path_possible V q q_rows true depth c))).
  intros paths A. pose proof (paths_stop c paths [] (p c) A (p_rows c)) as S. rewrite app_nil_r in S. exact S.
Qed.

Theorem hsd_multidraft_lossless : forall count depth c, lossless_if V p c (hsd_multidraft V p q count depth c).
Proof.
  intros count depth c. split.
  - intros G HG. unfold hsd_multidraft.
    rewrite mean_bind, (mean_ext V _ _ _ (fun paths => mean (hsd_paths V p q c paths (c ++ []) (p c))
      (fun found => match found with Some s => emitted V G s | None => 0 end)))
      by (intros paths; rewrite app_nil_r; apply mean_ext; intros [s|]; auto).
    rewrite (paths_keep (emitted V G) depth c).
    + rewrite app_nil_r. symmetry. apply HG.
    + intros d r R. rewrite (mean_ext V _ _ _ (fun path => mean (one_path c path (c ++ d) r) (emitted_if V G)))
        by (intros path; apply mean_ext; intros [s|]; auto).
      apply (one_path_follows G HG d c depth r R).
    + apply p_rows.
  - rewrite (mean_ext_proper V _ _ _ rejected (fun _ => 0) (hsd_multidraft_proper count depth c)).
    + apply (mean_const V _ _ _ _ (hsd_multidraft_proper count depth c)).
    + intros [s|] F; [reflexivity|contradiction].
Qed.

End Multidraft.
