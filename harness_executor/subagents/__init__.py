"""Who works: one process for each job, and none of them can reach state or evidence."""
