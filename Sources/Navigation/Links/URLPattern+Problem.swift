extension URLPattern {
    /// Why a pattern cannot be read.
    public enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// It does not begin with a scheme.
        case noScheme
        /// It ends with a fragment, which no application is told by every system.
        case fragment
        /// The part between `//` and the path holds a place or a user.
        case authority
        /// This segment or query parameter cannot be read.
        case malformed(String)
        /// This query parameter's value is more than a place.
        case partOfValue(String)
        /// This place stands twice.
        case twice(String)

        /// What is wrong and what to do.
        public var description: String {
            switch self {
            case .noScheme: "a link's URL begins with its scheme, such as 'focus:' or 'https:'; add it"
            case .fragment: "a link's URL has no fragment, which is ignored; remove '#' and what follows"
            case .authority:
                "a link's host has no case, so no place '{…}' and no user can stand in it; put them in the path"
            case .malformed(let part):
                "'\(part)' in a link's URL cannot be read; write text or one '{name}', and '%' as '%25'"
            case .partOfValue(let name):
                "the query parameter '\(name)' must be a fixed text or one place; write '\(name)={name}'"
            case .twice(let place): "'{\(place)}' stands twice in the link's URL; give one another name"
            }
        }
    }
}
