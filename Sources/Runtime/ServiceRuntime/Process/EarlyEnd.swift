/// The process ended in a way that none of its services gives a reason for.
struct EarlyEnd: Error, CustomStringConvertible {
    let description: String
}
