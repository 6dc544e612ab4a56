/// What `segue send --json` and `segue monitor --json` tell of a message.
struct Receipt: Decodable {
    struct JournalPosition: Decodable, Equatable {
        let epoch: String
        let offset: UInt64
    }

    let id: String
    let platform: String?
    let position: JournalPosition
    let expirytime: String?
}
