/// The part of a list that a request asks for.
struct PageRange: Sendable, Equatable {
    /// From 1 to 50, 20 unless said.
    let limit: Int
    /// From 0 to 100,000, 0 unless said.
    let offset: Int

    /// - Parameter query: The decoded query.
    /// - Throws: A 400 when a number is out of range or is none.
    init(_ query: [String: String]) throws(WebAPIError) {
        guard let limit = Int(query["limit"] ?? "20"), (1...50).contains(limit) else {
            throw .badRequest("Invalid limit")
        }
        guard let offset = Int(query["offset"] ?? "0"), (0...100_000).contains(offset) else {
            throw .badRequest("Invalid offset")
        }
        self.limit = limit
        self.offset = offset
    }
}
