/// The documents that are leased, by the process that leases them: the bus's side.
package struct DocumentLeases<Owner: Hashable & Sendable>: Sendable {
    private var owners: [DocumentName: Owner] = [:]
    private var names: [Owner: Set<DocumentName>] = [:]

    package init() {}

    /// Records a publication of a document. The last one decides whether the document is leased.
    /// - Parameter owner: Nil if the document is withdrawn or not leased.
    package mutating func record(_ name: DocumentName, leasedBy owner: Owner?) {
        if let last = owners.removeValue(forKey: name) {
            names[last]?.remove(name)
            if names[last]?.isEmpty ?? false { names[last] = nil }
        }
        guard let owner else { return }
        owners[name] = owner
        names[owner, default: []].insert(name)
    }

    package func documents(of owner: Owner) -> Set<DocumentName> { names[owner] ?? [] }

    /// All leased documents.
    package var documents: Set<DocumentName> { Set(owners.keys) }
}
