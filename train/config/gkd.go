package config

// gkd are the settings of TRL's GKDConfig (trl/experimental/gkd) beyond those of SFTConfig. Answers are the data's own:
// what the student writes itself would take a rollout.
func gkd(prefix string) []rule {
	return []rule{
		is("distill"),
		{put: func(in *Input, s *section) {
			s.set(prefix+"teacher_model_name_or_path", in.Training.TeacherModel)
		}, get: func(in *Input, r *reader) { in.Training.TeacherModel = r.text(prefix + "teacher_model_name_or_path") }},
		{put: func(_ *Input, s *section) { s.set(prefix+"lmbda", 0.0) }, get: func(_ *Input, r *reader) {
			if x, ok := r.number(prefix + "lmbda"); !ok || x != 0 {
				r.keep(prefix + "lmbda")
			}
		}},
		count(prefix+"max_length", sequence),
		liger(prefix, false),
		offloaded(prefix + "activation_offloading"),
	}
}

// teacherRefuses: a teacher and distillation belong together.
var teacherRefuses = []refusal{
	{"teacher_model", func(in *Input) bool {
		return in.Training.Objective == "distill" && in.Training.TeacherModel == ""
	}, "leaves nobody to learn from", "teacher_model = a larger model"},
	{"teacher_model", func(in *Input) bool {
		return in.Training.Objective != "distill" && in.Training.TeacherModel != ""
	}, "teaches, which no other objective has", "objective = distill"},
}

// rewardRefuses: a reward model and PPO belong together.
var rewardRefuses = []refusal{
	{"reward_model", func(in *Input) bool { return in.Training.Objective == "ppo" && in.Training.RewardModel == "" }, "leaves nobody to score the answers", "reward_model = a model with a score"},
	{"reward_model", func(in *Input) bool { return in.Training.Objective != "ppo" && in.Training.RewardModel != "" }, "scores answers, which no other objective has", "objective = ppo"},
}
