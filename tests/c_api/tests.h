/* tests.h: the tests, in the order in which main.c runs them. */
#ifndef TESTS_H
#define TESTS_H

#define EACH_TEST(TEST)                  \
  TEST(library_says_what_it_is)          \
  TEST(texts_fit_their_buffers)          \
  TEST(errors_are_of_their_thread)       \
  TEST(options_keep_values)              \
  TEST(options_refuse)                   \
  TEST(options_decide_about_searches)    \
  TEST(indexes_search_all_types)         \
  TEST(indexes_read_strides)             \
  TEST(indexes_limit_searches)           \
  TEST(indexes_refuse)                   \
  TEST(indexes_copy_points)              \
  TEST(indexes_certify_rows)             \
  TEST(radius_lists_are_right)           \
  TEST(graphs_are_right)                 \
  TEST(lists_refuse)                     \
  TEST(reductions_are_right)             \
  TEST(reductions_refuse)                \
  TEST(one_shot_searches_are_right)      \
  TEST(distance_matrices_are_right)      \
  TEST(topk_is_right)                    \
  TEST(one_shot_functions_refuse)        \
  TEST(plans_are_explained)              \
  TEST(handles_are_found_out)            \
  TEST(devices_are_refused_by_the_cpu)   \
  TEST(searches_are_cancelled)           \
  TEST(threads_share_an_index)           \
  TEST(threads_share_options)            \
  TEST(calls_outlive_their_handle)       \
  TEST(collections_search_all_types)     \
  TEST(collections_change)               \
  TEST(collections_filter)               \
  TEST(collections_answer_with_lists)    \
  TEST(collections_are_kept_in_files)    \
  TEST(collections_refuse)               \
  TEST(threads_share_a_collection)       \
  TEST(batches_are_searched)             \
  TEST(batches_refuse)                   \
  TEST(bits_are_searched)                \
  TEST(bits_are_copied)                  \
  TEST(bit_indexes_refuse_a_base)        \
  TEST(bit_indexes_refuse)               \
  TEST(sparse_rows_are_searched)         \
  TEST(sparse_rows_are_copied)           \
  TEST(sparse_indexes_refuse_a_base)     \
  TEST(sparse_indexes_refuse)            \
  TEST(metrics_are_searched_by)          \
  TEST(metrics_of_one_thread_stay_there) \
  TEST(metrics_end_searches)             \
  TEST(formulas_are_recognized)          \
  TEST(metrics_refuse)                   \
  TEST(custom_indexes_refuse)            \
  TEST(pivots_find_the_nearest)          \
  TEST(pivots_need_their_promises)       \
  TEST(pivots_of_one_thread_stay_there)  \
  TEST(pivots_are_cancelled)             \
  TEST(pivot_indexes_refuse)

#define DECLARE_TEST(name) void name(void);
EACH_TEST(DECLARE_TEST)
#undef DECLARE_TEST

#endif
