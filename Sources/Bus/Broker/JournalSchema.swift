internal import GRDB

/// The tables of a journal. `sqlite3 journal.sqlite 'select * from log'` shows the messages as a person reads them.
enum JournalSchema {
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("journal") { database in
            try database.execute(
                sql: """
                    CREATE TABLE journal (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

                    -- `head` is the offset of the topic's last message.
                    CREATE TABLE topics (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, head INTEGER NOT NULL);

                    -- `previous` is the offset of the message before on the same topic, `time` milliseconds since 1970.
                    -- No index but the offset: a page is a scan, and an index by topic would halve the speed of writing.
                    CREATE TABLE messages (
                        offset INTEGER PRIMARY KEY, topic INTEGER NOT NULL, previous INTEGER NOT NULL,
                        time INTEGER NOT NULL, header BLOB NOT NULL, data BLOB NOT NULL, checksum INTEGER NOT NULL);

                    CREATE TABLE documents (
                        type TEXT NOT NULL, subject TEXT NOT NULL, key TEXT NOT NULL,
                        offset INTEGER NOT NULL UNIQUE, owner BLOB, PRIMARY KEY (type, subject, key)) WITHOUT ROWID;

                    CREATE TABLE producers (
                        id BLOB PRIMARY KEY, sequence INTEGER NOT NULL, offset INTEGER NOT NULL, time INTEGER NOT NULL)
                        WITHOUT ROWID;

                    CREATE TABLE consumers (
                        name TEXT PRIMARY KEY, owner_epoch INTEGER NOT NULL, token BLOB NOT NULL, offset INTEGER NOT NULL)
                        WITHOUT ROWID;

                    CREATE VIEW log AS
                        SELECT offset, strftime('%Y-%m-%dT%H:%M:%fZ', time / 1000.0, 'unixepoch') AS time, name AS topic,
                            CAST(header AS TEXT) AS header, CAST(data AS TEXT) AS data
                        FROM messages JOIN topics ON topics.id = messages.topic;
                    """)
            try database.execute(
                sql: "INSERT INTO journal (key, value) VALUES ('epoch', ?)",
                arguments: [Int64.random(in: 1...Int64.max)])
        }
        return migrator
    }()
}
