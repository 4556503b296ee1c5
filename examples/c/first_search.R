# The points of a 100 × 100 grid nearest to two places on it. kith_r.c is the C between R and Kith:
#   R CMD SHLIB kith_r.c $(pkg-config --cflags --libs kith)
dyn.load(Sys.getenv("KITH_R", "kith_r.so"))

nearest <- function(base, queries, k) {
  found <- .C("kith_r_search", as.double(base), nrow(base), ncol(base), as.double(queries), nrow(queries),
              as.integer(k), ids = double(k * nrow(queries)), distances = double(k * nrow(queries)), error = "")
  if (nzchar(found$error)) stop(found$error)
  list(ids = matrix(found$ids, ncol = k, byrow = TRUE), distances = matrix(found$distances, ncol = k, byrow = TRUE))
}

grid <- cbind(0:9999 %% 100, 0:9999 %/% 100)
found <- nearest(grid, rbind(c(3.2, 7.9), c(41.0, 58.6)), 3)
for (query in 1:2) {
  text <- sprintf("  %d at %.3f", found$ids[query, ], found$distances[query, ])
  cat(sprintf("query %d:%s\n", query, paste(text, collapse = "")))
}
