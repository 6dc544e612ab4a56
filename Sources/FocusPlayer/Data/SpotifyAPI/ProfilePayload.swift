/// The account, as far as it is needed.
struct ProfilePayload: Decodable {
    let id: String
}
