(** Writes checker.ml.  Natural numbers become OCaml's integers, of 63 bits, and functions on lists those of its

    library, without recursion on a stack; the numbers of rows are a module that main.ml gives, Zarith's rationals. *)
Require Import List Arith Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlNativeString.
Require Import Certificate Cells Lines.
Set Printing Width 110.
Extract Inlined Constant fst => "fst".
Extract Inlined Constant snd => "snd".
Extract Inlined Constant Nat.max => "max".
Extract Inlined Constant Nat.min => "min".
Extract Inlined Constant negb => "not".
Extract Inlined Constant option_map => "Option.map".
Extract Inlined Constant length => "List.length".
Extract Inlined Constant app => "(@)".
Extract Constant map => "fun f l -> List.rev (List.rev_map f l)".
Extract Constant fold_right => "fun f x l -> List.fold_left (fun y a -> f a y) x (List.rev l)".
Extract Inlined Constant flat_map => "List.concat_map".
Extract Inlined Constant existsb => "List.exists".
Extract Inlined Constant forallb => "List.for_all".
Extract Constant seq => "fun first n -> List.init n (fun i -> first + i)".
Extract Constant repeat => "fun x n -> List.init n (fun _ -> x)".
Extract Constant nth => "fun n l x -> Option.value (List.nth_opt l n) ~default:x".
Extract Constant firstn => "fun n l -> List.filteri (fun i _ -> i < n) l".
Extract Inlined Constant concat => "List.concat".
Extract Inlined Constant nth_error => "List.nth_opt".
Extract Inlined Constant filter => "List.filter".
Extract Inlined Constant find => "List.find_opt".
Extract Constant skipn => "fun n l -> List.filteri (fun i _ -> i >= n) l".
Extract Constant zip => "fun f l m -> match l, m with a :: l, b :: m -> f a b :: zip f l m | _ -> []".
Extract Constant both => "(fun f l m -> List.compare_lengths l m = 0 && List.for_all2 f l m)".
Extract Constant on => "(fun o none some -> Option.fold ~none ~some o)".
Extract Constant or_else => "(fun o default -> Option.value o ~default)".
Extract Inlined Constant Nat.ltb => "(<)".
Extract Inlined Constant andthen => "Option.bind".
Extraction Inline vocab target proposal draws depth calls verified invalid found tau plan of_drafts of_blocks optimum requests judged claim
  same_word earlier in_words is_in.
Extraction "checker.ml" Lines.Checker.
