internal import Foundation
internal import GRDB

extension JournalSchema {
    /// Names have been in Unicode's form C only since: others could be the same in memory, and two in the file. Of two that
    /// become the same the one that was in form C is kept.
    static func composeNames(_ database: Database) throws {
        let compose = DatabaseFunction("compose", argumentCount: 1, pure: true) { values in
            String.fromDatabaseValue(values[0])?.precomposedStringWithCanonicalMapping
        }
        database.add(function: compose)
        defer { database.remove(function: compose) }
        let tables = ["shares", "progress", "members", "letters", "cut_offs", "displaced"].map { ($0, "consumer") }
        for (table, column) in tables + [("consumers", "name"), ("documents", "subject"), ("documents", "key")] {
            let others = "WHERE \(column) <> compose(\(column))"
            try database.execute(
                sql: """
                    UPDATE OR IGNORE \(table) SET \(column) = compose(\(column)) \(others);
                    DELETE FROM \(table) \(others);
                    """)
        }
    }
}
