/// The part of the JSON of `segue send --json` and `segue monitor --json` that tests use.
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
