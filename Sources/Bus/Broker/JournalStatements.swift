internal import GRDB

/// The statements that are run for every message, batch or page.
struct JournalStatements {
    let begin: RawStatement
    let commit: RawStatement
    let rollback: RawStatement
    let insertMessage: RawStatement
    let deleteMessage: RawStatement
    let messages: RawStatement
    let documents: RawStatement
    let document: RawStatement
    let retainDocument: RawStatement
    let withdrawDocument: RawStatement
    let documentOffset: RawStatement
    let moveTopic: RawStatement
    let saveProducer: RawStatement
    let saveProgress: RawStatement

    private static let columns = "messages.offset, messages.topic, previous, header, data, checksum"
    static let documentSQL = """
        SELECT \(columns) FROM documents JOIN messages USING (offset)
        WHERE documents.type = ? AND documents.subject = ? AND documents.key = ?
        """

    init(_ database: Database) throws {
        func prepare(_ sql: String) throws -> RawStatement { try RawStatement(sql, database) }
        let columns = Self.columns
        begin = try prepare("BEGIN IMMEDIATE")
        commit = try prepare("COMMIT")
        rollback = try prepare("ROLLBACK")
        insertMessage = try prepare("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        deleteMessage = try prepare("DELETE FROM messages WHERE offset = ?")
        messages = try prepare("SELECT \(columns) FROM messages WHERE offset > ? ORDER BY offset")
        documents = try prepare(
            """
            SELECT \(columns) FROM documents JOIN messages USING (offset)
            WHERE documents.offset > ? ORDER BY documents.offset
            """)
        document = try prepare(Self.documentSQL)
        retainDocument = try prepare("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)")
        withdrawDocument = try prepare("DELETE FROM documents WHERE type = ? AND subject = ? AND key = ?")
        documentOffset = try prepare("SELECT offset FROM documents WHERE type = ? AND subject = ? AND key = ?")
        moveTopic = try prepare("UPDATE topics SET head = ? WHERE id = ?")
        saveProducer = try prepare("INSERT OR REPLACE INTO producers VALUES (?, ?, ?, ?)")
        saveProgress = try prepare("INSERT OR REPLACE INTO progress VALUES (?, ?, ?)")
    }
}
