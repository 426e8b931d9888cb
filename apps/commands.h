/* The program's commands, one file each. Every one takes the arguments after its name and returns the exit
 * code: 0 done, 1 failed, 2 wrong usage. */
#ifndef SAC_APPS_COMMANDS_H
#define SAC_APPS_COMMANDS_H

int sac_cmd_bake(int argc, char **argv);
int sac_cmd_tree(int argc, char **argv);
int sac_cmd_tree_info(int argc, char **argv);
int sac_cmd_tree_export(int argc, char **argv);
int sac_cmd_tree_render(int argc, char **argv);
int sac_cmd_tree_compare(int argc, char **argv);
int sac_cmd_bench(int argc, char **argv);
int sac_cmd_replay(int argc, char **argv);
int sac_cmd_perceive(int argc, char **argv);
int sac_cmd_stability(int argc, char **argv);
int sac_cmd_demo(int argc, char **argv);
int sac_cmd_run(int argc, char **argv);
/* Built with SACCADE_XR. */
int sac_cmd_xr(int argc, char **argv);
int sac_cmd_view(int argc, char **argv);
int sac_cmd_render(int argc, char **argv);

#endif
