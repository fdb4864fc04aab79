(** HSD (zhou2026hsd, Algorithm 2) is lossless: on every path that can be drafted, its coins and residuals are those of
    block verification.

    With R the joint ratio and m the largest one so far, 1 included, HSD's rate R / m is block verification's w; and
    of two rows of mass w and 1 the excesses differ by 1 - w, so that both step back with the same coin. *)

Require Import Reals Lra List Arith.
Require Import Programs Numbers Means Lossless Traversal RecursiveRejection Chains BlockOptimal Texts.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Hsd.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).

Lemma ratio_positive : forall a b, 0 < b -> ratio a b = a / b.
Proof. intros a b B. unfold ratio. simpl. destruct (Rlt_dec 0 b); [auto|lra]. Qed.

Lemma share_ratio : forall a b, 0 < b -> share a b = Rmin 1 (a / b).
Proof.
  intros a b B. assert (E : a / b * b = a) by (field; lra).
  unfold share, Rmin. simpl. destruct (Rlt_dec a b) as [L|L], (Rle_dec 1 (a / b)) as [M|M]; auto.
  - assert (b <= a); [|lra]. rewrite <- E. apply Rle_trans with (1 * b); [lra|]. apply Rmult_le_compat_r; lra.
  - exfalso. apply M, Rmult_le_reg_r with b; lra.
Qed.

Lemma maximum_Rmax : forall a b, maximum a b = Rmax a b.
Proof. intros. unfold maximum, Rmax. simpl. destruct (Rlt_dec a b), (Rle_dec a b); lra. Qed.

(** One token further down: the rate of HSD, which divides by the peak, is that of block verification. *)
Lemma next_ratio : forall R peak a b, 0 <= R <= peak -> 0 < peak -> 0 <= a -> 0 < b ->
  let next := R * ratio a b in
  0 <= next /\ 0 < maximum peak next /\ next <= maximum peak next /\
  ratio next (maximum peak next) = share (ratio R peak * a) b.
Proof.
  intros R peak a b [N L] P A B next. unfold next. rewrite maximum_Rmax, share_ratio, (ratio_positive a b), (ratio_positive R peak) by auto.
  set (n := R * (a / b)).
  assert (N' : 0 <= n) by (apply Rmult_le_pos; auto; apply Rmult_le_pos; auto; left; apply Rinv_0_lt_compat; auto).
  pose proof (Rmax_l peak n). pose proof (Rmax_r peak n). repeat split; auto; try lra.
  rewrite ratio_positive by lra. replace (R / peak * a / b) with (n / peak) by (unfold n; field; lra).
  assert (E : n / peak * peak = n) by (field; lra).
  unfold Rmax, Rmin. destruct (Rle_dec peak n) as [K|K], (Rle_dec 1 (n / peak)) as [M|M]; auto.
  - field. lra.
  - exfalso. apply M, Rmult_le_reg_r with peak; lra.
  - exfalso. apply K. rewrite <- E. apply Rle_trans with (1 * peak); [lra|]. apply Rmult_le_compat_r; lra.
Qed.

Lemma same_coin : forall w c, total (excess (q c) (scale w (p c))) = total (excess (scale w (p c)) (q c)) + (1 - w).
Proof.
  intros w c. pose proof (excess_difference V (scale w (p c)) (q c)) as D. unfold scale in *.
  rewrite total_mul, (proj2 (p_rows c)), (proj2 (q_rows c)) in D. simpl in *. lra.
Qed.

(** The path can be drafted. *)
Fixpoint drafted (path : list token) (c : context) : Prop :=
  match path with [] => True | x :: rest => 0 < q c x /\ drafted rest (c ++ [x]) end.

Lemma possible_drafted : forall replacement path c r, possible V q replacement (as_children path) c r -> r = q c -> drafted path c.
Proof.
  intros replacement. induction path as [|x path IH]; simpl; auto. intros c r [_ [L [B _]]] ->. split; auto. apply (IH _ _ B). auto.
Qed.

Theorem hsd_is_block : forall path c R peak f, drafted path c -> 0 <= R <= peak -> 0 < peak ->
  mean (hsd_below V p q path c R peak) f = mean (block_below V p q path c (ratio R peak)) f.
Proof.
  induction path as [|x path IH]; intros c R peak f D B P; [reflexivity|]. destruct D as [L D].
  destruct (next_ratio R peak (p c x) (q c x) B P (proj1 (p_rows c) x) L) as [N [M [K E]]].
  cbn [hsd_below block_below]. rewrite !mean_bind, IH, E by auto. apply mean_ext. intros [s|]; auto.
  cbn zeta. rewrite same_coin. reflexivity.
Qed.

Lemma hsd_iteration_is_block : forall depth c f, mean (hsd_iteration V p q depth c) f = mean (block_iteration V p q depth c) f.
Proof.
  intros depth c f. unfold hsd_iteration, block_iteration. rewrite !mean_bind.
  apply (mean_ext_proper V _ _ _ _ _ (path_possible V q q_rows true depth c)). intros path H.
  unfold hsd_verify, block_verify. rewrite hsd_is_block; [|apply (possible_drafted true path c (q c) H); auto|lra|lra].
  rewrite ratio_positive by lra. replace (1 / 1) with 1 by field. auto.
Qed.

Theorem hsd_lossless : forall depth c, lossless_if V p c (hsd_iteration V p q depth c).
Proof.
  intros depth c. destruct (block_lossless V p q p_rows q_rows depth c) as [L R].
  split; [intros G HG; rewrite <- (L G HG)|rewrite <- R]; apply hsd_iteration_is_block.
Qed.

(** It keeps every drafted prefix with the most that a lossless rule can. *)
Theorem hsd_accepts_most : forall depth u c, (length u <= depth)%nat -> (forall x, In x u -> In x (vocabulary V)) ->
  mean (hsd_iteration V p q depth c) (accepts_if c u) = joint q u c * weight p q u c 1.
Proof.
  intros depth u c L U. rewrite hsd_iteration_is_block. apply (block_accepts_most V p q p_rows q_rows depth u c 1); auto. lra.
Qed.

(** Every coin is a probability and every row a law, wherever the run can get. *)
Lemma hsd_path_proper : forall path c R peak, possible V q true (as_children path) c (q c) -> 0 <= R <= peak -> 0 < peak ->
  proper V (hsd_below V p q path c R peak)
    (fun found => match found with Some s => stops_below V c s | None => ratio R peak < 1 end).
Proof.
  assert (Unit : forall R peak, 0 <= R <= peak -> 0 < peak -> 0 <= ratio R peak <= 1).
  { intros R peak B P. rewrite ratio_positive by auto. split.
    - apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. auto.
    - apply Rmult_le_reg_r with peak; auto. replace (R / peak * peak) with R by (field; lra). lra. }
  induction path as [|x path IH]; intros c R peak H B P; simpl.
  - split; [auto|]. split; intros A; auto. split; [exists []; rewrite app_nil_r; auto|apply p_rows].
  - destruct H as [I [L [H _]]]. destruct (next_ratio R peak (p c x) (q c x) B P (proj1 (p_rows c) x) L) as [N [M [K E]]].
    apply (proper_bind V _ _ _ _ _ _ (IH (c ++ [x]) _ _ H (conj N K) M)).
    intros [s|] F; [apply (stops_deeper V c x s F)|]. rewrite E in F. apply share_below_one in F.
    set (want := scale (ratio R peak) (p c)) in *.
    assert (W : 0 < total (excess (q c) want)).
    { assert (X : 0 < excess (q c) want x) by (rewrite excess_min, Rmin_right; unfold want, scale; simpl; lra).
      assert (Z : forall y, 0 <= excess (q c) want y) by (intros; apply excess_nonneg).
      destruct (Rle_lt_or_eq_dec _ _ (total_nonneg V _ Z)) as [|T]; auto.
      rewrite (total_zero V _ Z (eq_sym T) x I) in X. lra. }
    assert (T : 0 <= total (excess want (q c))) by (apply total_nonneg; intros; apply excess_nonneg).
    simpl. split; [apply share_bounds; auto|]. split; intros A.
    + split; [exists []; simpl; rewrite app_nil_r; auto|]. simpl.
      apply normalise_row; [intros; apply excess_nonneg|]. apply (share_positive _ _ T W A).
    + apply share_below_one in A. unfold want in A. rewrite same_coin in A. lra.
Qed.

Theorem hsd_proper : forall depth c, proper V (hsd_iteration V p q depth c)
  (fun found => match found with Some s => stops_below V c s | None => False end).
Proof.
  intros depth c. apply (proper_bind V _ _ _ _ _ _ (path_possible V q q_rows true depth c)). intros path H.
  apply (proper_weaken V _ _ _ _ (hsd_path_proper path c 1 1 H (conj Rle_0_1 (Rle_refl 1)) Rlt_0_1)).
  intros [s|] F; auto. rewrite ratio_positive in F by lra. replace (1 / 1) with 1 in F by field. lra.
Qed.

(** The text of any number of calls begins with [u] as often as the target's. *)
Theorem hsd_text_follows : forall (depth : context -> nat) n c u, known V c -> known V u -> (length u <= n)%nat ->
  mean (calls (stateless (fun c => hsd_iteration V p q (depth c) c)) n tt c) (begins (c ++ u)) = joint p u c.
Proof.
  intros depth n c u C U N. apply rule_text_follows; auto.
  - intros d. apply hsd_lossless.
  - intros d. apply hsd_proper.
Qed.

End Hsd.
