extension Batch {
    /// - Throws: ``BusError`` with code `refused` for what no bus takes.
    func validate() throws {
        if let query = messages.first(where: { $0.type.kind == .query }) {
            throw BusError(.refused, "\(query.type) cannot be published: queries are never journalled")
        }
        if rejection != nil, checkpoint == nil {
            throw BusError(.refused, "a rejection needs the checkpoint of what is rejected")
        }
        guard isTransient else { return }
        if let document = messages.first(where: { $0.type.kind == .document }) {
            throw BusError(.refused, "\(document.type) cannot be transient: documents are retained")
        }
        if checkpoint != nil || !settledLetters.isEmpty {
            throw BusError(.refused, "a transient batch has nothing but messages")
        }
    }
}
