"""What column names mean, in several languages: the vocabulary of `tacit.suggest_roles`."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from tacit.core.schema import Role


@dataclass(frozen=True)
class Concept:
    """A thing that columns are often about."""

    name: str
    role: Role
    reason: str
    words: frozenset[str]


def _concept(name: str, role: Role, reason: str, words: str) -> Concept:
    return Concept(name, role, reason, frozenset(words.split()))


_BODY = frozenset({"birth", "body", "kg", "lb", "lbs", "kilo", "geburts", "korper", "corporel"})
"""Words beside which a weight is that of a body, not of a sampling design."""
_NUMBERING = frozenset(
    {"id", "nr", "no", "num", "number", "nummer", "numero", "code", "key", "ident", "ref", "index"}
)
"""Words that say that a column numbers things."""
_NOT_AN_ID = frozenset({"paid", "unpaid", "valid", "invalid", "covid", "grid", "medicaid", "said"})
BODY_MEASURES = frozenset({"height", "bmi", "groesse", "grosse", "taille", "altura", "altezza"})
"""Words of columns beside which a bare weight is that of a body too."""
_WEAK = ("unit number", "person's name")
"""Concepts that count only where no other does: a city's name is about the city."""

CONCEPTS = (
    _concept(
        "sampling weight",
        Role.WEIGHT,
        "named like a sampling weight",
        """
        w weight weights wgt wt weigth pweight fnlwgt gewicht gewichte gewichtung hochrechnung
        hochrechnungsfaktor poids ponderation peso pesos ponderacion ponderador ponderazione
        ponderacao fexp factorexpansion weging wegingsfactor vikt waga
        """,
    ),
    _concept(
        "household number",
        Role.HOUSEHOLD,
        "named like the number of a household",
        """
        household hh hhid hid hhnr hhno hhnum householdid familyid famid haushalt haushaltsid
        haushaltsnummer menage foyer hogar famiglia agregado domicilio huishouden hushall
        hushold gospodarstwo holding
        """,
    ),
    _concept(
        "official number",
        Role.IDENTIFIER,
        "named like an official number of a person",
        """
        ssn sin nin nino nationalid socialsecurity socialsecuritynumber taxid tin nif nie dni
        cpf cnpj bsn nir insee numsecu codicefiscale partitaiva passport passportnumber
        pasaporte passeport passaporto passaporte reisepass paspoort ausweis ausweisnummer
        personnummer sozialversicherungsnummer svnr ahv steuernummer steuerid mrn nhs nhsnumber
        medicare driverlicense drivinglicence licenseplate numberplate kennzeichen fuhrerschein
        pesel egn vat vatnumber
        """,
    ),
    _concept(
        "contact",
        Role.IDENTIFIER,
        "named like a way to reach a person",
        """
        email mail emailaddress correo correoelectronico courriel posta phone phonenumber
        telephone tel mobile cell cellphone handy telefon telefonnummer telefono telefone
        celular movil portable telefoon telefoonnummer mobiel fax address addr adresse anschrift
        direccion indirizzo endereco morada adres street strasse rue calle rua straat hausnummer
        housenumber website homepage
        """,
    ),
    _concept(
        "account",
        Role.IDENTIFIER,
        "named like the number of an account or device",
        """
        iban bic account accountnumber konto kontonummer cuenta compte conto conta rekening
        rekeningnummer creditcard cardnumber kreditkarte tarjeta ip ipaddress mac macaddress
        imei cookie deviceid username login nickname userid user twitter
        """,
    ),
    _concept(
        "age",
        Role.KEY,
        "an age, which others know",
        """
        age ages agey alter lebensalter edad eta idade leeftijd alder wiek agegroup altersgruppe
        """,
    ),
    _concept(
        "birth",
        Role.KEY,
        "about birth, which others know",
        """
        birth birthdate birthday birthyear dob yob born geburt geburtsdatum geburtsjahr
        naissance datenaissance nacimiento fechanacimiento nascita datanascita nascimento
        datanascimento geboorte geboortedatum geboortejaar fodelsedatum
        """,
    ),
    _concept(
        "sex",
        Role.KEY,
        "sex, which others see",
        """
        sex gender geschlecht sexe sexo sesso genero geslacht kon plec
        """,
    ),
    _concept(
        "zip code",
        Role.KEY,
        "a postal code: where people live is known",
        """
        zip zipcode postcode postalcode postal plz postleitzahl codepostal codigopostal cep cap
        codicepostale codpostal postnummer
        """,
    ),
    _concept(
        "place",
        Role.KEY,
        "a place: where units are is known",
        """
        region regions state province county district municipality city town village country
        nation nationality citizenship territory location area nuts lau urban rural urbrur
        urbanrural canton kanton land bundesland kreis landkreis gemeinde ort wohnort stadt
        staat staatsangehorigkeit ville commune departement pays nationalite provincia municipio
        ciudad pais nacionalidad comune citta regione paese nazionalita regiao cidade concelho
        distrito nacionalidade gemeente provincie woonplaats stad nationaliteit latitude
        longitude lat lon lng gps nativecountry birthplace geburtsort lieunaissance residence
        neighbourhood
        """,
    ),
    _concept(
        "family status",
        Role.KEY,
        "the family situation, which others know",
        """
        marital maritalstatus marstat civil civilstatus hhcivil familienstand zivilstand
        etatcivil matrimonial estadocivil statocivile burgerlijkestaat relationship relat
        kinship spouse children kids kinder enfants hijos figli filhos kinderen hhsize
        householdsize familysize haushaltsgrosse numyoung numold kindpers
        """,
    ),
    _concept(
        "origin",
        Role.KEY,
        "ethnic origin or language: known to others, and sensitive itself",
        """
        race ethnicity ethnic etni ethnie etnia raza razza raca herkunft hispanic ancestry
        language sprache langue idioma lingua taal migration migrant
        """,
    ),
    _concept(
        "education",
        Role.KEY,
        "education, which others know",
        """
        education educ edu school schooling degree bildung schulabschluss abschluss estudios
        educacion etudes diplome formation istruzione titolodistudio escolaridade educacao
        opleiding onderwijs utbildning isced
        """,
    ),
    _concept(
        "work",
        Role.KEY,
        "work or branch, which others know",
        """
        occupation job profession beruf metier profesion ocupacion professione occupazione
        profissao ocupacao beroep isco employment employed employer employees workclass industry
        nace sic naics branch branche sector wirtschaftszweig legalform rechtsform sizeclass
        employmentstatus erwerbsstatus emploi empleo lavoro emprego werk occucode compcode
        """,
    ),
    _concept(
        "money",
        Role.CONFIDENTIAL,
        "an amount of money, which is nobody else's business",
        """
        income incomes salary salaries wage wages earning earnings pay einkommen gehalt lohn
        revenu revenus salaire ingreso ingresos salario sueldo renta reddito stipendio renda
        rendimento salarios inkomen loon salaris inkomst tax taxes steuer steuern impot impots
        impuesto impuestos imposta tasse imposto impostos belasting expend expenditure expenses
        ausgaben depenses gastos spese despesas uitgaven saving savings debt debts assets wealth
        money billing bill cost costs charges turnover umsatz chiffreaffaires ventas fatturato
        omzet revenue profit sales exports investment result credit balance loan mortgage
        benefit benefits pension rente capital price amount betrag importe montant vermogen
        schulden
        """,
    ),
    _concept(
        "health",
        Role.CONFIDENTIAL,
        "about health",
        """
        diagnosis diagnoses diagnose diagnostic diagnostico diagnosi disease illness icd
        condition disability handicap enfermedad malattia doenca ziekte krankheit maladie drug
        drugs medication treatment therapy therapie hiv health gesundheit sante salud salute
        saude gezondheid blood cholesterol bmi bloodpressure symptom symptoms bodyweight height
        """,
    ),
    _concept(
        "belief or conduct",
        Role.CONFIDENTIAL,
        "about belief, conduct or orientation",
        """
        religion religious confession konfession religione religiao godsdienst party vote partei
        union politics political orientation sexuality crime criminal offence conviction opinion
        query search satisfaction
        """,
    ),
    _concept(
        "unit number",
        Role.IDENTIFIER,
        "named like the number of a unit",
        """
        id uid uuid guid pid personid patientid customerid respondentid recordid caseid clientid
        memberid employeeid studentid kundennummer personennummer matrikelnummer matricula nr
        nummer numero identifier ident record serial establishmentid companyid
        """,
    ),
    _concept(
        "person's name",
        Role.IDENTIFIER,
        "named like a name",
        """
        name names surname lastname familyname firstname forename givenname middlename fullname
        nachname vorname familienname nom prenom nomfamille nombre nombres apellido apellidos
        nome nomes cognome sobrenome apelido naam voornaam achternaam familienaam namn fornamn
        efternamn imie nazwisko company firm firma empresa azienda bedrijf
        """,
    ),
)


def tokens(column: str) -> list[str]:
    """Split a column name into plain lower-case words.

    Examples
    --------
    >>> tokens("dateOfBirth"), tokens("CÓDIGO_POSTAL2"), tokens("marital-status")
    (['date', 'of', 'birth'], ['codigo', 'postal'], ['marital', 'status'])
    """
    plain = unicodedata.normalize("NFKD", column.replace("ß", "ss"))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    spaced = re.sub(r"(?<=[^\W\d_])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", " ", plain)
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", spaced)]


@cache
def concepts_of(column: str) -> tuple[Concept, ...]:
    """Return what a column name says the column is about, the surest first."""
    words = tokens(column)
    if not words:
        return ()
    joined = "".join(words)
    exact = [c for c in CONCEPTS if c.words & {joined}]
    parts = [c for c in CONCEPTS if any(len(w) > 1 and w in c.words for w in words)]
    inside = [c for c in CONCEPTS if any(len(w) > 5 and w in joined for w in c.words)]
    found = list(dict.fromkeys([*exact, *_weak_last(parts), *_weak_last(inside)]))
    if not found:
        found = _by_ending(column, joined)
    return tuple(c for c in found if _fits(c, words, joined))


def _weak_last(found: list[Concept]) -> list[Concept]:
    return sorted(found, key=lambda c: c.name in _WEAK)


def _by_ending(column: str, joined: str) -> list[Concept]:
    """Recognise glued names such as UTILITYID, UTILNAME and AFNLWGT by their end."""
    named = {c.name: c for c in CONCEPTS}
    if joined.endswith("wgt"):
        return [named["sampling weight"]]
    if joined.endswith("name"):
        return [named["person's name"]]
    if joined.endswith("id") and len(joined) > 4 and joined not in _NOT_AN_ID and column[-1] == "D":
        return [named["unit number"]]
    return []


def _fits(concept: Concept, words: list[str], joined: str) -> bool:
    if concept.name == "sampling weight":
        return not _BODY & set(words) and not any(
            b in joined for b in ("birth", "body", "overw", "underw")
        )
    if concept.name == "household number":
        return (
            joined in concept.words
            or bool(_NUMBERING & set(words))
            or words[-1] in (concept.words - {"household", "hh"})
        )
    return True
