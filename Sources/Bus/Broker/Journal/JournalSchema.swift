internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import Foundation
internal import GRDB
internal import Support

/// The tables of a journal, and their migrations. `sqlite3 journal.sqlite 'select * from log'` shows the messages in
/// readable form.
enum JournalSchema {
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("journal") { try $0.execute(sql: first) }
        migrator.registerMigration("groups") { database in
            try database.execute(sql: second)
            try rewriteChecksums(database)
        }
        migrator.registerMigration("refusals") { try $0.execute(sql: refusals) }
        migrator.registerMigration("displaced") { try $0.execute(sql: displaced) }
        migrator.registerMigration("tail") { try $0.execute(sql: tail) }
        migrator.registerMigration("names") { try composeNames($0) }
        migrator.registerMigration("marks") { try $0.execute(sql: marks) }
        migrator.registerMigration("origins") { try $0.execute(sql: origins) }
        migrator.registerMigration("names of users") { try $0.execute(sql: users) }
        migrator.registerMigration("sizes") { try $0.execute(sql: sizes) }
        return migrator
    }()

    private static let first = """
        CREATE TABLE journal (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO journal (key, value) VALUES ('epoch', (random() & 9223372036854775807) | 1);

        -- `head` is the offset of the topic's last message.
        CREATE TABLE topics (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, head INTEGER NOT NULL);

        -- `previous` is the offset of the preceding message on the same topic, `time` the milliseconds since 1970.
        -- The only index is the offset: a page is a scan, and an index by topic would halve the speed of writing.
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
        """

    private static let second = """
        -- From this version on, `messages.checksum` is XXH64 of the data, seeded with XXH64 of the header, seeded with:
        -- XXH64 of the topic's name, xor offset, xor previous rotated by 32 bits.

        -- The key `pruned` is the offset up to which retention has removed everything except retained documents.
        INSERT INTO journal (key, value) VALUES ('pruned', 0);

        CREATE INDEX leases ON documents (owner) WHERE owner IS NOT NULL;

        -- `owner_epoch` is the highest one that a claim has got.
        ALTER TABLE consumers RENAME TO old_consumers;
        CREATE TABLE consumers (name TEXT PRIMARY KEY, owner_epoch INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO consumers SELECT name, owner_epoch FROM old_consumers;

        -- The 64 partitions of a consumer: the member that owns each one (NULL: none), its owner epoch (0: the member
        -- has not claimed it yet), and the offset up to which it was handled when the member got it, or later progress
        -- of this partition alone.
        CREATE TABLE shares (
            consumer TEXT NOT NULL, partition INTEGER NOT NULL, member TEXT, owner_epoch INTEGER NOT NULL,
            offset INTEGER NOT NULL, PRIMARY KEY (consumer, partition)) WITHOUT ROWID;
        INSERT INTO shares
            WITH RECURSIVE numbers(number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number < 63)
            SELECT name, number, NULL, 0, offset FROM old_consumers, numbers;
        DROP TABLE old_consumers;

        -- The progress since then: the offset up to which all partitions of an owner epoch are handled.
        CREATE TABLE progress (
            consumer TEXT NOT NULL, owner_epoch INTEGER NOT NULL, offset INTEGER NOT NULL,
            PRIMARY KEY (consumer, owner_epoch)) WITHOUT ROWID;

        -- The shared members of a consumer, each with the producer whose silence ends its membership.
        CREATE TABLE members (
            consumer TEXT NOT NULL, member TEXT NOT NULL, producer BLOB NOT NULL, PRIMARY KEY (consumer, member))
            WITHOUT ROWID;

        -- The dead letters: copies of the messages that consumers have given up. Retention does not remove them. `epoch`
        -- and `offset` are the position of the message.
        CREATE TABLE letters (
            id INTEGER PRIMARY KEY AUTOINCREMENT, consumer TEXT NOT NULL, epoch INTEGER NOT NULL, offset INTEGER NOT NULL,
            topic TEXT NOT NULL, header BLOB NOT NULL, data BLOB NOT NULL, code TEXT NOT NULL, reason TEXT NOT NULL,
            attempts INTEGER NOT NULL, time INTEGER NOT NULL);

        -- The messages that retention removed before a consumer had handled them. `owner_epoch` is that of the claim that
        -- reported them (0: none yet); its first checkpoint removes the row.
        CREATE TABLE cut_offs (
            consumer TEXT NOT NULL, type TEXT NOT NULL, owner_epoch INTEGER NOT NULL, count INTEGER NOT NULL,
            first INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (consumer, type, owner_epoch)) WITHOUT ROWID;
        """

    private static let refusals = """
        -- The reasons for which batches were refused. They are deleted with their producer, but not when its row is
        -- replaced.
        CREATE TABLE refusals (
            producer BLOB NOT NULL, sequence INTEGER NOT NULL, code INTEGER NOT NULL, reason TEXT NOT NULL,
            PRIMARY KEY (producer, sequence)) WITHOUT ROWID;
        CREATE TRIGGER forget_refusals AFTER DELETE ON producers
            BEGIN DELETE FROM refusals WHERE producer = OLD.id; END;
        """

    private static let displaced = """
        -- The last exclusive members of a consumer that other members have displaced, in this order.
        CREATE TABLE displaced (consumer TEXT NOT NULL, member TEXT NOT NULL);
        CREATE INDEX displaced_members ON displaced (consumer);
        """

    private static let tail = """
        -- The last message of a batch has the producer and the sequence of the batch; other messages have NULL. The tables
        -- of topics and producers may be older than the messages: the key `saved` is the offset up to which they are saved.
        ALTER TABLE messages ADD COLUMN producer BLOB;
        ALTER TABLE messages ADD COLUMN sequence INTEGER;
        INSERT INTO journal (key, value) SELECT 'saved', coalesce(max(head), 0) FROM topics;
        """

    private static let marks = """
        -- The key `marks` is a secret of 16 bytes with which the broker makes the marks that it gives to clients. The key
        -- `start` is the offset at which the epoch began.
        INSERT INTO journal (key, value) VALUES ('marks', randomblob(16)), ('start', 0);
        """

    private static let origins = """
        -- The session and the publisher that the broker has verified; NULL on a bus without keys.
        ALTER TABLE messages ADD COLUMN session TEXT;
        ALTER TABLE messages ADD COLUMN publisher TEXT;
        ALTER TABLE letters ADD COLUMN session TEXT;
        ALTER TABLE letters ADD COLUMN publisher TEXT;
        """

    private static let users = """
        -- Who has begun a topic or a consumer, or is a producer; NULL on a bus without keys.
        ALTER TABLE topics ADD COLUMN publisher TEXT;
        ALTER TABLE consumers ADD COLUMN publisher TEXT;
        ALTER TABLE producers ADD COLUMN publisher TEXT;

        CREATE INDEX letters_of_consumers ON letters (consumer);
        """

    private static let sizes = """
        -- What counts for the limits of users. To find these columns after the data of a message, SQLite would read the
        -- data. `rejector` is who has rejected the message of a letter. Publisher and rejector are NULL on a bus without
        -- keys, the rejector also for older letters.
        ALTER TABLE documents ADD COLUMN publisher TEXT;
        ALTER TABLE documents ADD COLUMN size INTEGER;
        UPDATE documents SET (publisher, size) =
            (SELECT messages.publisher, MAX(length(header) + length(data), 1024)
            FROM messages WHERE messages.offset = documents.offset);

        ALTER TABLE letters ADD COLUMN rejector TEXT;
        ALTER TABLE letters ADD COLUMN size INTEGER;
        CREATE INDEX letters_of_rejectors ON letters (rejector, publisher, size);
        """

    /// Replaces the checksums of the first version of the journal, which were FNV-1a. A row with a wrong checksum keeps
    /// it, and so remains recognisable as damaged.
    static func rewriteChecksums(_ database: Database) throws {
        let update = try database.makeStatement(sql: "UPDATE messages SET checksum = :checksum WHERE offset = :offset")
        var last: Int64 = 0
        while true {
            // A cursor over rows that are being changed may return some of them twice.
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT offset, previous, name, header, data, checksum
                    FROM messages JOIN topics ON topics.id = messages.topic WHERE offset > :last ORDER BY offset LIMIT 1000
                    """,
                arguments: ["last": last])
            guard let end = rows.last else { return }
            last = try end.value("offset")
            for row in rows {
                let (old, new) = try checksums(row)
                guard try row.value("checksum") == old else { continue }
                try update.execute(arguments: ["checksum": new, "offset": row.value("offset", as: Int64.self)])
            }
        }
    }

    private static func checksums(_ row: Row) throws -> (old: Int64, new: Int64) {
        let offset = UInt64(bitPattern: try row.value("offset"))
        let previous = UInt64(bitPattern: try row.value("previous"))
        let name: String = try row.value("name")
        let (header, data): (Data, Data) = (try row.value("header"), try row.value("data"))
        var hash = FNV1a()
        for number in [offset, previous] {
            withUnsafeBytes(of: number.bigEndian) { hash.combine($0) }
        }
        hash.combine(name.utf8)
        hash.combine(header)
        hash.combine(data)
        let new = header.withUnsafeBytes { header in
            data.withUnsafeBytes { data in
                Checksum.of(
                    topic: Array(name.utf8).withUnsafeBytes { XXH64.hash($0) }, offset: offset, previous: previous,
                    header: header, data: data)
            }
        }
        return (Int64(bitPattern: hash.value), new)
    }

    /// Converts names to Unicode Normalization Form C. Earlier versions accepted other forms, so two names that are
    /// equal in Swift could be different in the file. If two rows would get the same unique name, one is kept: the one
    /// that was in form C, if there is one.
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
