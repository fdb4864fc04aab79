(** Lemma 7 of zhou2026hsd: with what mass a token is drawn again.

    After the drafted tokens [u] block verification, and so HSD, stops and draws [x] with q(u) (w p - q)+(x).  As w p / q
    is the capped ratio r* of [u] and [x], this is (r* - 1)+ q(u x): only peaks are drawn again. *)

Require Import Reals Lra Lia List Arith.
Require Import Programs Numbers Means Lossless Traversal RecursiveRejection Chains BlockOptimal Texts Hsd.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section HsdDrawn.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).

(** The stop is at [d] and the extra token is [x]. *)
Definition drawn_at (d : context) (x : token) (found : option stop) : R :=
  match found with Some (e, r) => if list_eq_dec Nat.eq_dec d e then r x else 0 | None => 0 end.

Lemma drawn_elsewhere : forall d e r x, d <> e -> drawn_at d x (Some (e, r)) = 0.
Proof. intros. simpl. destruct (list_eq_dec Nat.eq_dec d e); [contradiction|auto]. Qed.

Lemma drawn_here : forall d r x, drawn_at d x (Some (d, r)) = r x.
Proof. intros. simpl. destruct (list_eq_dec Nat.eq_dec d d); [auto|contradiction]. Qed.

Lemma stops : forall depth c w, 0 <= w <= 1 -> proper V (subtree V p q true (chain q depth c) c w (p c) (q c))
  (fun found => match found with Some s => stops_below V c s | None => w < 1 end).
Proof.
  intros. apply subtree_proper; auto; [apply chain_possible; auto|apply q_law, q_rows|apply entered_target; auto].
Qed.

Lemma rate_range : forall w c y, 0 <= w <= 1 -> 0 <= share (w * p c y) (q c y) <= 1.
Proof. intros. apply share_bounds, Rmult_le_pos; [lra|apply p_rows]. Qed.

Theorem block_draws : forall depth u c w x, (length u < depth)%nat -> known V u -> In x (vocabulary V) -> 0 <= w <= 1 ->
  mean (block_from V p q depth c w) (drawn_at (c ++ u) x) =
  joint q u c * excess (scale (weight p q u c w) (p (c ++ u))) (q (c ++ u)) x.
Proof.
  induction depth as [|depth IH]; intros u c w x L U X W; [lia|]. rewrite first_token. destruct u as [|y v].
  - rewrite app_nil_r. cbn [joint weight]. set (res := excess (scale w (p c)) (q c)). set (A := total res).
    assert (R : forall z, 0 <= res z) by (intros; apply excess_nonneg). pose proof (total_nonneg V res R) as N. fold A in N.
    set (K := share A (A + (1 - w)) * RealPrograms.normalise V res x).
    rewrite (total_ext V _ (fun z => K * (q c z * (1 - share (scale w (p c) z) (q c z))))).
    + assert (P : forall z, 0 <= scale w (p c) z) by (intros; apply Rmult_le_pos; [lra|apply p_rows]).
      rewrite total_mul, (rejected_mass V (scale w (p c)) (q c) P (q_rows c)).
      replace (total (scale w (p c))) with w by (unfold scale; rewrite total_mul, (proj2 (p_rows c)); simpl; ring).
      fold res. fold A. unfold K. rewrite Rmult_1_l.
      transitivity ((A + (1 - w)) * share A (A + (1 - w)) * RealPrograms.normalise V res x); [ring|].
      rewrite share_of_whole by lra. destruct (Rle_lt_or_eq_dec _ _ N) as [T|Z]; [apply normalise_total; auto|].
      rewrite (total_zero V res R (eq_sym Z) x X), <- Z. ring.
    + intros z. rewrite <- Rmult_assoc, (Rmult_comm K), Rmult_assoc. f_equal. rewrite block_from_subtree.
      rewrite (mean_ext_proper V _ _ _ _ (fun found => K * rejected found) (stops depth (c ++ [z]) _ (rate_range w c z W))).
      * rewrite mean_mul, <- block_from_subtree, block_accepts; auto. apply rate_range; auto.
      * intros [[d r]|] F.
        -- destruct F as [[e E] _]. simpl in E. subst d. rewrite drawn_elsewhere; [simpl; ring|].
           intros E. rewrite <- app_assoc in E. rewrite <- (app_nil_r c) in E at 1. apply app_inv_head in E. discriminate.
        -- simpl. destruct (list_eq_dec Nat.eq_dec c c); [|contradiction]. unfold K, A, res, next_rate, next_row. simpl. ring.
  - destruct (known_tail V y v U) as [Y U']. cbn [joint weight]. rewrite Rmult_assoc.
    assert (E : c ++ y :: v = (c ++ [y]) ++ v) by (rewrite <- app_assoc; auto). rewrite E.
    rewrite <- (IH v (c ++ [y]) (share (w * p c y) (q c y)) x); auto; [|simpl in L; lia|apply rate_range; auto].
    rewrite <- (total_single V (q c) y _ Y). apply total_ext. intros z. f_equal. rewrite block_from_subtree.
    assert (Away : forall r, drawn_at ((c ++ [y]) ++ v) x (Some (c, r)) = 0).
    { intros r. apply drawn_elsewhere. intros F. rewrite <- app_assoc in F. rewrite <- (app_nil_r c) in F at 2.
      apply app_inv_head in F. discriminate. }
    destruct (Nat.eqb_spec y z) as [<-|D].
    + rewrite block_from_subtree. apply mean_ext. intros [s|]; auto. transitivity (next_rate V w (p c) (q c) * drawn_at ((c ++ [y]) ++ v) x (Some (c, next_row V w (p c) (q c))) +
        (1 - next_rate V w (p c) (q c)) * 0); [reflexivity|]. rewrite Away. cbn [drawn_at]. ring.
    + rewrite (mean_ext_proper V _ _ _ _ (fun _ => 0 * 0) (stops depth (c ++ [z]) _ (rate_range w c z W))).
      * rewrite mean_mul. ring.
      * intros [[d r]|] F.
        -- destruct F as [[e G] _]. simpl in G. subst d. rewrite drawn_elsewhere; [ring|]. intros F.
           rewrite <- !app_assoc in F. apply app_inv_head in F. injection F. intros _ ->. contradiction.
        -- transitivity (next_rate V w (p c) (q c) * drawn_at ((c ++ [y]) ++ v) x (Some (c, next_row V w (p c) (q c))) +
        (1 - next_rate V w (p c) (q c)) * 0); [reflexivity|]. rewrite Away. cbn [drawn_at]. ring.
Qed.

(** The law of what HSD draws again. *)
Theorem hsd_draws : forall depth u c x, (length u < depth)%nat -> known V u -> In x (vocabulary V) -> 0 < q (c ++ u) x ->
  mean (hsd_iteration V p q depth c) (drawn_at (c ++ u) x) =
  joint q (u ++ [x]) c * positive (weight p q u c 1 * p (c ++ u) x / q (c ++ u) x - 1).
Proof.
  intros depth u c x L U X Q. rewrite hsd_iteration_is_block by auto.
  change (block_iteration V p q depth c) with (block_from V p q depth c 1).
  rewrite block_draws, joint_snoc by (auto; lra). rewrite Rmult_assoc. f_equal.
  unfold excess, scale. change (positive (weight p q u c 1 * p (c ++ u) x - q (c ++ u) x) =
    q (c ++ u) x * positive (weight p q u c 1 * p (c ++ u) x / q (c ++ u) x - 1)).
  set (a := weight p q u c 1 * p (c ++ u) x). rewrite !positive_min. set (b := q (c ++ u) x) in *.
  assert (M : a / b * b = a) by (field; lra).
  assert (E : Rmin a b = b * Rmin (a / b) 1).
  { unfold Rmin. destruct (Rle_dec a b) as [H|H], (Rle_dec (a / b) 1) as [G|G].
    - lra.
    - exfalso. apply G, Rmult_le_reg_r with b; lra.
    - exfalso. apply H. rewrite <- M. apply Rle_trans with (1 * b); [apply Rmult_le_compat_r; lra|lra].
    - ring. }
  rewrite E, Rmult_minus_distr_l, (Rmult_comm b (a / b)), M. auto.
Qed.

End HsdDrawn.
