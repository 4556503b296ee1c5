# The points of a 100 × 100 grid nearest to two places on it. Points are columns, as Julia keeps them: Kith's rows.
struct KithMatrix
    data::Ptr{Float32}; rows::Int64; cols::Int64; row_stride::Int64; col_stride::Int64; dtype::Int32; memory::Int32
end
struct KithNeighbors
    ids::Ptr{Int64}; distances::Ptr{Float32}; capacity::Int64
    certified::Ptr{UInt8}; certified_capacity::Int64; dtype::Int32; memory::Int32
end
matrix(points) = KithMatrix(pointer(points), size(points, 2), size(points, 1), 0, 0, 1, 0)

function nearest(base::Array{Float32,2}, queries::Array{Float32,2}, k)
    ids, distances = zeros(Int64, k, size(queries, 2)), zeros(Float32, k, size(queries, 2))
    GC.@preserve base queries ids distances begin
        out = KithNeighbors(pointer(ids), pointer(distances), length(ids), C_NULL, 0, 1, 0)
        status = @ccall "libkith.so".kith_search(
            Ref(matrix(base))::Ptr{KithMatrix}, Ref(matrix(queries))::Ptr{KithMatrix}, k::Int64,
            C_NULL::Ptr{Cvoid}, Ref(out)::Ptr{KithNeighbors}, C_NULL::Ptr{Cvoid})::Int32
    end
    status == 0 || error(unsafe_string(@ccall "libkith.so".kith_last_error()::Cstring))
    ids .+ 1, distances  # columns are counted from 1
end

grid = Float32[axis == 1 ? i % 100 : i ÷ 100 for axis in 1:2, i in 0:9999]
ids, distances = nearest(grid, Float32[3.2 41.0; 7.9 58.6], 3)
for query in 1:2, i in 1:3
    println("query $(query): $(ids[i, query]) at $(round(distances[i, query], digits = 3))")
end
