"""Words from which the queries of the synthetic log are made."""

# fmt: off
TOPICS = {
    "health": (
        "back pain", "diabetes diet", "flu symptoms", "migraine", "pregnancy test",
        "asthma inhaler", "depression", "blood pressure", "knee surgery", "skin rash",
        "hair loss", "insomnia",
    ),
    "travel": (
        "cheap flights", "beach hotel", "train timetable", "camping site", "city map",
        "visa form", "rental car", "ski resort", "cruise", "youth hostel", "airport parking",
        "travel insurance",
    ),
    "cooking": (
        "apple pie", "bread recipe", "chicken soup", "chocolate cake", "curry", "fish stew",
        "homemade pasta", "lasagne", "pancakes", "risotto", "roast potatoes", "vegan burger",
    ),
    "sports": (
        "football scores", "tennis rackets", "marathon training", "basketball rules",
        "golf course", "cycling route", "swimming pool", "yoga class", "boxing gym",
        "chess opening", "rowing club", "table tennis",
    ),
    "money": (
        "car loan", "credit card", "house prices", "income tax", "mortgage rate", "pension fund",
        "savings account", "stock market", "student loan", "debt advice", "bank transfer",
        "inheritance",
    ),
    "computers": (
        "laptop review", "printer driver", "wireless router", "free antivirus", "python course",
        "spreadsheet formula", "used phone", "game console", "broken screen", "web hosting",
        "photo editor", "backup disk",
    ),
    "home": (
        "paint colours", "garden shed", "kitchen sink", "sofa bed", "tomato seeds",
        "rose pruning", "roof repair", "wood stove", "vacuum cleaner", "curtain rail",
        "mouse trap", "solar panels",
    ),
    "family": (
        "baby names", "kindergarten", "divorce lawyer", "wedding dress", "adoption",
        "birthday party", "school holidays", "nursing home", "family tree", "child support",
        "toy trains", "pet insurance",
    ),
    "work": (
        "job offers", "curriculum vitae", "interview questions", "minimum wage", "work from home",
        "nurse training", "truck driver jobs", "union membership", "sick leave", "office chair",
        "salary calculator", "maternity leave",
    ),
    "culture": (
        "film reviews", "song lyrics", "opera tickets", "second hand books", "guitar chords",
        "museum opening hours", "poetry", "crossword answers", "celebrity news",
        "television guide", "dance lessons", "art prints",
    ),
}
"""Twelve subjects for each topic, the most popular first."""

WORDS_AROUND = (
    "{}", "best {}", "{} near me", "free {}", "how to {}", "{} help", "{} online", "{} forum",
    "cheap {}", "what is {}",
)
"""How a subject becomes a query, the most popular way first."""

FIRST_NAMES = (
    "anna", "thelma", "john", "maria", "peter", "lucía", "ahmed", "mei", "olga", "tom", "ines",
    "björn", "carla", "david", "ewa", "frank", "gita", "hugo", "irma", "jan",
)
SURNAMES = (
    "arnold", "smith", "garcía", "kovacs", "nowak", "rossi", "dubois", "meyer", "silva", "jansen",
    "okafor", "tanaka", "andersson", "petrov", "murphy", "kaya", "lindqvist", "moreau", "weber",
    "costa", "horvat", "ferrari", "virtanen", "papadakis", "ionescu", "larsen", "peeters",
    "santos", "zhang", "haddad",
)
# fmt: on
