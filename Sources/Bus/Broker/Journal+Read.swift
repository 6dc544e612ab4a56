internal import BusProtocol
internal import EventBus
internal import GRDB

extension Journal {
    /// The messages behind an offset that match.
    func messages(_ request: PageRequest) throws -> Page {
        // Most repairs and most starts find nothing new: the heads tell without a scan.
        guard topics.contains(where: { $1.head > request.after && request.matches($0) }) else {
            return Page(epoch: epoch, through: head, isComplete: true, messages: [])
        }
        return try page(
            request,
            sql: """
                SELECT messages.offset, topics.name, previous, header, data, checksum
                FROM messages JOIN topics ON topics.id = messages.topic
                WHERE messages.offset > ? ORDER BY messages.offset
                """)
    }

    /// The topics that match and have grown behind an offset.
    func heads(_ request: PageRequest) throws -> Heads {
        try check(request)
        let grown = topics.filter { $1.head > request.after && request.matches($0) }
        return Heads(epoch: epoch, through: head, offsets: grown.mapValues(\.head))
    }

    /// Fills a page from rows of (offset, topic, previous, header, data, checksum).
    func page(_ request: PageRequest, sql: String) throws -> Page {
        try check(request)
        var builder = PageBuilder(request: request, epoch: epoch)
        try database.inDatabase { database in
            let rows = try Row.fetchCursor(
                database.cachedStatement(sql: sql), arguments: [Int64(clamping: request.after)])
            while !builder.isFull, let row = try rows.next() {
                builder.add(row)
            }
        }
        guard builder.damaged.isEmpty else {
            throw ProtocolError(
                .journal, "the journal is damaged at offset \(builder.damaged.map(String.init).joined(separator: ", "))"
            )
        }
        return builder.page(head: head)
    }

    private func check(_ request: PageRequest) throws {
        guard request.epoch == 0 || request.epoch == epoch else {
            throw ProtocolError(
                .epoch, "this is journal \(String(epoch, radix: 16)), not \(String(request.epoch, radix: 16))")
        }
    }
}

extension PageRequest {
    func matches(_ topic: String) -> Bool {
        prefixes.contains { topic.hasPrefix($0) }
    }
}
